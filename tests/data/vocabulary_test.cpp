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

// What the text has and the vocabulary lacks comes behind it, as it is first written there.
TEST_F(VocabularyTest, WordsAreExtendedByThoseOfAText) {
  const auto words = train_words({{write("a", "the old house")}}, {.cutting = WordCutting::tokens});
  ASSERT_EQ(words->size(), 6);
  const std::string text = "Karim saw the KARIM and Ötzi";
  const auto extended = extended_by(words, text);
  EXPECT_EQ(extended->size(), 10);
  EXPECT_EQ(extended->encode(text), (std::vector<std::int32_t>{6, 7, 5, 6, 8, 9}));
  EXPECT_EQ(extended->encode("ötzi sees the karim"), (std::vector<std::int32_t>{9, kUnknown, 5, 6}));
  const std::vector<std::int32_t> ids{9, 5, 6, kUnknown, 77, kEnd};
  EXPECT_EQ(extended->decode(ids), "Ötzi the Karim <unk> <unk>");
  EXPECT_EQ(extended->decoded_places(ids)[2].begin, 9);
  EXPECT_EQ(extended->decoded_places(ids)[2].end, 14);
  EXPECT_EQ(extended->serialized(), words->serialized());
  EXPECT_EQ(extended_by(words, "the house")->size(), words->size());
  EXPECT_EQ(extended_by(train_subwords({{write("b", kText)}}, {.size = 60}), text), nullptr);
}

TEST_F(VocabularyTest, WordsAreOrderedByFrequencyThenBytes) {
  const auto words = train_words({{write("a", "b a b c"), write("b", "c a d\n<s> c")}}, {});
  EXPECT_EQ(words->serialized(), "<unk>\n<s>\n</s>\nc\na\nb\nd\n");
  EXPECT_EQ(words->encode("c  x b\t<s>"), (std::vector<std::int32_t>{3, kUnknown, 5, kUnknown}));
  EXPECT_EQ(words->decode(std::vector<std::int32_t>{kBegin, 3, 0, 6, kEnd}), "c <unk> d");
  EXPECT_EQ(words->file_name("source"), "source.vocab.txt");
  EXPECT_EQ(words->word_of(std::vector<std::int32_t>{3, 4, kEnd}), (std::vector<Index>{0, 1, 2}));
}

TEST_F(VocabularyTest, SizeAndMinimumLimitTheWords) {
  const std::string file = write("a", "a a a b b c\n");
  EXPECT_EQ(train_words({{file}}, {.size = 5})->serialized(), "<unk>\n<s>\n</s>\na\nb\n");
  EXPECT_EQ(train_words({{file}}, {.minimum = 3})->serialized(), "<unk>\n<s>\n</s>\na\n");
  EXPECT_EQ(message_of([&] { train_words({{file}}, {.minimum = 4}); }), "[words] no word occurs 4 times");
}

TEST_F(VocabularyTest, AColumnOfATsvIsLearnt) {
  const SampleFiles files{.files = {write("a.tsv", "one\teins\ntwo\tzwei\nno tab\n")}};
  const std::vector<SampleColumn> columns{{"source"}, {"target", Kind::text, true}};
  const auto learnt = [&](const std::vector<std::string>& wanted) {
    return train_words(TrainingText(files, columns, wanted), {})->serialized();
  };
  EXPECT_EQ(learnt({"target"}), "<unk>\n<s>\n</s>\neins\nzwei\n");
  EXPECT_EQ(learnt({"source", "target"}), "<unk>\n<s>\n</s>\neins\none\ntwo\nzwei\n");
}

TEST_F(VocabularyTest, TextsOfSeveralKindsAreLearntTogether) {
  TrainingText text(std::vector<std::string>{write("lines", "b b\n")});
  text += TrainingText({.files = {write("a.tsv", "a\tx\n")}}, {{"source"}, {"target", Kind::text, true}}, {"target"});
  EXPECT_EQ(train_words(text, {})->serialized(), "<unk>\n<s>\n</s>\nb\nx\n");
}

TEST_F(VocabularyTest, WordsComeBackFromTheirFile) {
  const auto words = train_words({{write("text", kText)}}, {});
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

TEST_F(VocabularyTest, PlacesOfWordsCountCharacters) {
  const auto words = train_words({{write("a", "größe 猫 b\n")}}, {});
  // Two bytes and more a character, white space of several kinds, a word that is unknown.
  EXPECT_EQ(words->places("  größe\t猫 über"), (std::vector<TextPlace>{{2, 7}, {8, 9}, {10, 14}}));
  EXPECT_TRUE(words->places(" \t ").empty());
  const std::vector<std::int32_t> ids{kBegin, words->encode("größe")[0], kUnknown, words->encode("猫")[0], kEnd};
  EXPECT_EQ(words->decode(ids), "größe <unk> 猫");
  EXPECT_EQ(words->decoded_places(ids), (std::vector<TextPlace>{{0, 0}, {0, 5}, {6, 11}, {12, 13}, {13, 13}}));
}

TEST_F(VocabularyTest, LettersHaveAVisibleBlank) {
  const auto letters = train_words({{write("a", "go on\n größe\n")}}, {.cutting = WordCutting::letters});
  EXPECT_EQ(letters->serialized(), "<unk>\n<s>\n</s>\ng\no\ne\nn\nr\nß\nö\n▁\n");
  EXPECT_EQ(letters->file_name("output"), "output.letters.txt");
  const std::vector<std::int32_t> ids = letters->encode("  gr  öx ");
  ASSERT_EQ(ids.size(), 5U);
  EXPECT_EQ(letters->piece(ids[2]), "▁");
  EXPECT_EQ(ids[4], kUnknown);
  EXPECT_EQ(letters->decode(ids), "gr ö<unk>");
  EXPECT_EQ(letters->places("  gr  öx "), (std::vector<TextPlace>{{2, 3}, {3, 4}, {4, 4}, {6, 7}, {7, 8}}));
  const std::vector<std::int32_t> whole{kBegin, ids[0], ids[1], ids[2], ids[3], kEnd};
  EXPECT_EQ(letters->decoded_places(whole), (std::vector<TextPlace>{{0, 0}, {0, 1}, {1, 2}, {2, 2}, {3, 4}, {4, 4}}));
  EXPECT_EQ(letters->word_of(whole), (std::vector<Index>{0, 1, 1, 1, 2, 3}));
  const auto loaded = load_vocabulary(write(letters->file_name("output"), letters->serialized()));
  EXPECT_EQ(loaded->encode("  gr  öx "), ids);
  EXPECT_EQ(loaded->decode(ids), letters->decode(ids));
}

class SubwordsTest : public VocabularyTest, public testing::WithParamInterface<const char*> {};

TEST_P(SubwordsTest, RoundTripThroughPiecesAndFile) {
  const auto subwords = train_subwords({{write("text", kText)}}, {.size = 60, .kind = GetParam()});
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
  EXPECT_EQ(train_subwords({{file}}, options)->serialized(), train_subwords({{file}}, options)->serialized());
}

TEST_P(SubwordsTest, PiecesOfAWordBelongTogether) {
  const auto subwords = train_subwords({{write("text", kText)}}, {.size = 40, .kind = GetParam()});
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

// The characters of a place in a text.
std::string characters(const std::string& text, TextPlace place) {
  std::string result;
  Index at = -1;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80) ++at;
    if (at >= place.begin && at < place.end) result += c;
  }
  return result;
}

TEST_P(SubwordsTest, PlacesOfPiecesAreTheirCharactersInTheText) {
  const std::string plain = "the größe of 猫 and cats";
  const auto subwords =
      train_subwords({{write("text", std::string(kText) + plain + "\n")}}, {.size = 60, .kind = GetParam()});
  // White space at the ends and in rows, a ligature and wide letters that are read as others, what is unknown.
  for (const std::string& text :
       {plain, std::string("  the   cats \u3000 größe "), std::string("\ufb01ve ｃａｔｓ ☃☃ of 猫猫"),
        std::string("   "), std::string("\ttabs\u00a0and cats")}) {
    const std::vector<std::int32_t> ids = subwords->encode(text);
    const std::vector<TextPlace> places = subwords->places(text);
    ASSERT_EQ(places.size(), ids.size());
    Index end = 0;
    std::string covered, expected = text;
    for (const TextPlace& place : places) {
      EXPECT_GE(place.begin, end) << text;
      EXPECT_GE(place.end, place.begin) << text;
      end = place.end;
      covered += characters(text, place);
    }
    for (const std::string space : {" ", "\t", "\u3000", "\u00a0"})
      while (expected.find(space) != std::string::npos) expected.erase(expected.find(space), space.size());
    EXPECT_EQ(covered, expected);
  }
}

TEST_P(SubwordsTest, PlacesOfDecodedPiecesAreInTheDecodedText) {
  const auto subwords = train_subwords({{write("text", kText)}}, {.size = 40, .kind = GetParam()});
  std::vector<std::int32_t> ids{kBegin};
  for (const std::int32_t id : subwords->encode("the old riverbanks")) ids.push_back(id);
  ids.push_back(kUnknown);
  for (const std::int32_t id : subwords->encode("sleep")) ids.push_back(id);
  ids.push_back(kEnd);
  const std::string text = subwords->decode(ids);
  const std::vector<TextPlace> places = subwords->decoded_places(ids);
  ASSERT_EQ(places.size(), ids.size());
  std::string covered, expected;
  for (const TextPlace& place : places) covered += characters(text, place);
  for (const char c : text)
    if (c != ' ') expected += c;
  EXPECT_EQ(covered, expected);
  EXPECT_EQ(places.front(), (TextPlace{0, 0}));
  EXPECT_EQ(places.back().begin, places.back().end);
}

TEST_P(SubwordsTest, ATextTooSmallGivesFewerPiecesOrAnError) {
  const std::string file = write("text", "aa bb\nab ba\n");
  SubwordOptions options{.size = 500, .kind = GetParam()};
  const Index most = train_subwords({{file}}, options)->size();
  EXPECT_LT(most, 500);
  options.exact = true;
  const std::string message = message_of([&] { train_subwords({{file}}, options); });
  EXPECT_NE(message.find("too small for 500 pieces; there can be"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SubwordsTest, testing::Values("unigram", "bpe"),
                         [](const auto& at) { return std::string(at.param); });

TEST_F(VocabularyTest, BadSubwordRequestsAreErrors) {
  const std::string file = write("text", kText);
  EXPECT_NE(message_of([&] { train_subwords({{file}}, {.kind = "unigramm"}); }).find("did you mean unigram?"),
            std::string::npos);
  EXPECT_NE(message_of([&] { train_subwords({{file}}, {.size = 5}); }).find("cannot learn 5 pieces"),
            std::string::npos);
  EXPECT_NE(message_of([&] { train_subwords({{write("none", "\n\n")}}, {}); }).find("no text to learn from"),
            std::string::npos);
  EXPECT_NE(message_of([&] { load_vocabulary(write("v.spm", "not a model")); }).find("no model of SentencePiece"),
            std::string::npos);
  EXPECT_NE(message_of([&] { load_vocabulary(write("empty.spm", "")); }).find("no model of SentencePiece"),
            std::string::npos);
  const auto subwords = train_subwords({{file}}, {.size = 40});
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
