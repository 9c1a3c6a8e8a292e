#include "heed/data/vocabulary.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/data/subwords.h"
#include "heed/data/words.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

const char* const kText =
    "the cat sleeps near the old house\n"
    "a cat and a dog walk to the house\n"
    "the small dogs sleep all day long\n"
    "houses and cats near the river bank\n"
    "\n"
    "we walked along the bank of the river\n";

class VocabularyTest : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) const {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(VocabularyTest, WordsAreOrderedByFrequencyThenBytes) {
  const auto words = train_words({write("a", "b a b c"), write("b", "c a d\n<s> c")}, {});
  EXPECT_EQ(words->serialized(), "<unk>\n<s>\n</s>\nc\na\nb\nd\n");
  EXPECT_EQ(words->encode("c  x b\t<s>"), (std::vector<std::int32_t>{3, kUnknown, 5, kUnknown}));
  EXPECT_EQ(words->decode(std::vector<std::int32_t>{kBegin, 3, 0, 6, kEnd}), "c <unk> d");
  EXPECT_EQ(words->file_name("source"), "source.vocab.txt");
  EXPECT_EQ(words->word_of(std::vector<std::int32_t>{3, 4, kEnd}), (std::vector<Index>{0, 1, 2}));
}

TEST_F(VocabularyTest, SizeAndMinimumLimitTheWords) {
  const std::string file = write("a", "a a a b b c\n");
  EXPECT_EQ(train_words({file}, {.size = 5})->serialized(), "<unk>\n<s>\n</s>\na\nb\n");
  EXPECT_EQ(train_words({file}, {.minimum = 3})->serialized(), "<unk>\n<s>\n</s>\na\n");
  EXPECT_EQ(message_of([&] { train_words({file}, {.minimum = 4}); }), "[words] no word occurs 4 times");
}

TEST_F(VocabularyTest, AColumnOfATsvIsLearnt) {
  const std::string file = write("a.tsv", "one\teins\ntwo\tzwei\nno tab\n");
  EXPECT_EQ(train_words({file}, {.column = 1})->serialized(), "<unk>\n<s>\n</s>\neins\nzwei\n");
}

TEST_F(VocabularyTest, WordsComeBackFromTheirFile) {
  const auto words = train_words({write("text", kText)}, {});
  const auto loaded = load_vocabulary(write(words->file_name("target"), words->serialized()));
  EXPECT_EQ(loaded->serialized(), words->serialized());
  EXPECT_EQ(loaded->encode("the old dog barks"), words->encode("the old dog barks"));
}

TEST_F(VocabularyTest, DamagedListsOfWordsAreErrors) {
  const auto load = [&](std::string_view text) { return message_of([&] { load_vocabulary(write("v.txt", text)); }); };
  EXPECT_NE(load("a\nb\n").find("<unk>, <s> and </s>"), std::string::npos);
  EXPECT_NE(load("<unk>\n<s>\n</s>\na b\n").find("line 4 is not one word"), std::string::npos);
  EXPECT_NE(load("<unk>\n<s>\n</s>\na\na\n").find("line 5: a is there twice"), std::string::npos);
  EXPECT_NE(load("<unk>\n<s>\n</s>\n\xff\n").find("line 4 is not UTF-8"), std::string::npos);
  EXPECT_NE(load("").find("<unk>, <s> and </s>"), std::string::npos);
}

TEST_F(VocabularyTest, UnknownEndingsAndMissingFilesAreErrors) {
  EXPECT_NE(message_of([&] { load_vocabulary(write("v.bin", "")); }).find(".bin is that of no vocabulary"),
            std::string::npos);
  EXPECT_NE(message_of([&] { load_vocabulary(folder_.path() / "none.spm"); }).find("cannot open it"),
            std::string::npos);
}

class SubwordsTest : public VocabularyTest, public testing::WithParamInterface<const char*> {};

TEST_P(SubwordsTest, RoundTripThroughPiecesAndFile) {
  const auto subwords = train_subwords({write("text", kText)}, {.size = 60, .kind = GetParam()});
  EXPECT_LE(subwords->size(), 60);
  EXPECT_EQ(subwords->piece(kUnknown), "<unk>");
  EXPECT_EQ(subwords->piece(kBegin), "<s>");
  EXPECT_EQ(subwords->piece(kEnd), "</s>");
  EXPECT_EQ(subwords->file_name("source"), "source.spm");
  const auto loaded = load_vocabulary(write("v.spm", subwords->serialized()));
  for (const std::string text : {"the cat sleeps near the old house", "dogs walk", "catsandhouses"}) {
    const std::vector<std::int32_t> ids = subwords->encode(text);
    EXPECT_EQ(subwords->decode(ids), text);
    EXPECT_EQ(loaded->encode(text), ids);
    for (const std::int32_t id : ids) EXPECT_GT(id, kEnd);
  }
}

TEST_P(SubwordsTest, TheSameSeedGivesTheSamePieces) {
  const std::string file = write("text", kText);
  const SubwordOptions options{.size = 50, .kind = GetParam(), .seed = 7, .sample = 4};
  EXPECT_EQ(train_subwords({file}, options)->serialized(), train_subwords({file}, options)->serialized());
}

TEST_P(SubwordsTest, PiecesOfAWordBelongTogether) {
  const auto subwords = train_subwords({write("text", kText)}, {.size = 40, .kind = GetParam()});
  std::vector<std::int32_t> ids{kBegin};
  std::vector<Index> expected{0};
  const std::vector<std::string> words{"the", "riverbanks", "sleep"};
  for (std::size_t word = 0; word < words.size(); ++word)
    for (const std::int32_t id : subwords->encode(words[word])) {
      ids.push_back(id);
      expected.push_back(static_cast<Index>(word) + 1);
    }
  EXPECT_GT(ids.size(), words.size() + 1);  // some word is cut
  ids.push_back(kEnd);
  expected.push_back(4);
  EXPECT_EQ(subwords->word_of(ids), expected);
}

TEST_P(SubwordsTest, ATextTooSmallGivesFewerPiecesOrAnError) {
  const std::string file = write("text", "aa bb\nab ba\n");
  SubwordOptions options{.size = 500, .kind = GetParam()};
  const Index most = train_subwords({file}, options)->size();
  EXPECT_LT(most, 500);
  options.exact = true;
  const std::string message = message_of([&] { train_subwords({file}, options); });
  EXPECT_NE(message.find("too small for 500 pieces; there can be"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SubwordsTest, testing::Values("unigram", "bpe"));

TEST_F(VocabularyTest, BadSubwordRequestsAreErrors) {
  const std::string file = write("text", kText);
  EXPECT_NE(message_of([&] { train_subwords({file}, {.kind = "unigramm"}); }).find("did you mean unigram?"),
            std::string::npos);
  EXPECT_NE(message_of([&] { train_subwords({file}, {.size = 5}); }).find("cannot learn 5 pieces"), std::string::npos);
  EXPECT_NE(message_of([&] { train_subwords({write("none", "\n\n")}, {}); }).find("no text to learn from"),
            std::string::npos);
  EXPECT_NE(message_of([&] { load_vocabulary(write("v.spm", "not a model")); }).find("no model of SentencePiece"),
            std::string::npos);
  EXPECT_NE(message_of([&] { load_vocabulary(write("empty.spm", "")); }).find("no model of SentencePiece"),
            std::string::npos);
  const auto subwords = train_subwords({file}, {.size = 40});
  const std::string bytes = subwords->serialized();
  EXPECT_NE(message_of([&] {
              load_vocabulary(write("cut.spm", bytes.substr(0, bytes.size() / 2)));
            }).find("no model of SentencePiece"),
            std::string::npos);
  EXPECT_NE(message_of([&] { subwords->decode(std::vector<std::int32_t>{1000}); }).find("id 1000 is outside"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
