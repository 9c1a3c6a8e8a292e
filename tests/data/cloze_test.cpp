#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/file.h"
#include "heed/data/blank.h"
#include "heed/data/corpora/cloze.h"
#include "heed/data/corpora/stories.h"
#include "heed/data/samples.h"
#include "heed/data/text_file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

// Questions with a blank: how they are written, the files they come from, and the corpora that are made.

namespace heed {
namespace {

using test::message_of;
using Texts = std::vector<std::string>;

const std::vector<SampleColumn> kColumns{{.name = "answer", .kind = Kind::choice, .output = true},
                                         {.name = "document", .kind = Kind::document},
                                         {.name = "question", .blank = true}};

TEST(Blanks, AreWrittenAlikeAndCounted) {
  const auto check = [](const std::string& text, const std::string& expected, int blanks) {
    const BlankedText found = with_blank(text);
    EXPECT_EQ(found.text, expected);
    EXPECT_EQ(found.blanks, blanks) << text;
  };
  check("a XXXXX b", "a XXXXX b", 1);
  check("by @placeholder.", "by XXXXX .", 1);
  check("it was _____, he said", "it was XXXXX , he said", 1);
  check("(_)", "( XXXXX )", 1);
  check("是XXXXX！", "是 XXXXX ！", 1);
  check("_ and XXXXX", "XXXXX and XXXXX", 2);
  check("XXXXXL aXXXXX @placeholders", "XXXXXL aXXXXX @placeholders", 0);
  EXPECT_FALSE(fault_of_blank(with_blank("a _ b")));
  EXPECT_EQ(fault_of_blank(with_blank("a b")), "the question has no blank, such as XXXXX");
  EXPECT_EQ(fault_of_blank(with_blank("_ _")), "the question has several blanks");
}

class ClozeFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    write_file(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }
  // Every sample as document, question, answer and choices; what was left out is in the report.
  std::vector<Texts> read(const std::string& path, const std::string& format = "") {
    Samples samples({.files = {path}, .format = format, .allow_bad_lines = true}, kColumns);
    std::vector<Texts> found;
    for (Sample sample; samples.next(sample);) {
      Texts& texts = found.emplace_back(Texts{sample.inputs[0].text, sample.inputs[1].text, sample.outputs[0]});
      texts.insert(texts.end(), sample.choices.begin(), sample.choices.end());
    }
    report_ = samples.report();
    return found;
  }
  std::string faults() const {
    std::string text;
    for (const SampleReport::Fault& fault : report_.faults) text += fmt::format("{} {}; ", fault.count, fault.what);
    return text;
  }

  TemporaryFolder folder_;
  SampleReport report_;
};

TEST_F(ClozeFiles, ChildrensBookTest) {
  const std::string path = file("cbtest_NE_valid.txt",
                                "1 Sam ran .\n2 Ann sat .\n21 then XXXXX spoke .\tAnn\t\tAnn|Sam||it|a|b|c|d|e|f|g\n\n"
                                "1 One .\n21 nothing is asked\tOne\t\tOne|Two\n\n"
                                "1 One .\n21 XXXXX .\tOne\t\tOne|One\n\n"
                                "1 One .\n2 Two .\n\n");
  EXPECT_EQ(read(path), (std::vector<Texts>{{"Sam ran . Ann sat .", "then XXXXX spoke .", "Ann", "Ann", "Sam", "it",
                                             "a", "b", "c", "d", "e", "f"}}));
  EXPECT_EQ(faults(),
            "1 left out, the question has no blank, such as XXXXX; 1 left out, a choice is given twice; "
            "1 left out, the question is missing; ");
  EXPECT_EQ(report_.faults[0].first, Texts{path + ":6"});
}

TEST_F(ClozeFiles, NewsQuestionsAreFilesOfAFolder) {
  const std::string body =
      "http://x\n\n@entity1 met @entity2 .\n\n@placeholder met somebody\n\n@entity1\n\n"
      "@entity1:Ann: the first\n@entity2:Sam\n";
  file("news/b.question", body);
  file("news/a.question", "http://x\n\ntext\n");
  const std::vector<Texts> expected{
      {"@entity1 met @entity2 .", "XXXXX met somebody", "@entity1", "@entity1", "@entity2"}};
  EXPECT_EQ(read((folder_.path() / "news").string()), expected);
  EXPECT_EQ(faults(), "1 left out, not a question of this format; ");
  EXPECT_EQ(read((folder_.path() / "news/b.question").string()), expected);
}

TEST_F(ClozeFiles, ChineseSets) {
  EXPECT_EQ(read(file("cft", "1 ||| 猫 跑 。\n2 ||| 狗 坐 。\n3 ||| XXXXX 坐 。 ||| 狗\n1 ||| 一 。\n")),
            (std::vector<Texts>{{"猫 跑 。 狗 坐 。", "XXXXX 坐 。", "狗"}}));
  EXPECT_EQ(faults(), "1 left out, the question is missing; ");
  file("cmrc.answer", "<qid_0> ||| 猫\n<qid_1> ||| 狗\n");
  EXPECT_EQ(
      read(file(
          "cmrc.doc_query",
          "1 ||| 猫 跑 。\n<qid_0> ||| XXXXX 跑\n1 ||| 狗 坐 。\n<qid_1> ||| 谁 坐 ？\n1 ||| 一\n<qid_2> ||| _\n")),
      (std::vector<Texts>{{"猫 跑 。", "XXXXX 跑", "猫"}, {"狗 坐 。", "谁 坐 ？ XXXXX", "狗"}}));
  EXPECT_EQ(faults(), "1 left out, without an answer in the file beside it; ");
}

TEST_F(ClozeFiles, EachBlankOfAClothArticleIsAQuestion) {
  const std::string path = file(
      "cloth.jsonl",
      R"({"article": "A dog _ . It _ the _ .", "options": [["ran", "sat"], ["saw", "ate"], ["cat", "sun"]], "answers": ["A", "B", "A"]})"
      "\n"
      R"({"article": "A _ .", "options": [["b", "c"], ["d", "e"]], "answers": ["A", "B"]})"
      "\n"
      R"({"article": "A _ or _ .", "options": [["b", "c"], ["d", "e", "f"]], "answers": ["A", "Q"]})"
      "\n[1]\n");
  EXPECT_EQ(read(path, "cloth"),
            (std::vector<Texts>{{"A dog _ . It _ the _ .", "A dog XXXXX . ", "ran", "ran", "sat"},
                                {"A dog _ . It _ the _ .", "It XXXXX the … .", "ate", "saw", "ate"},
                                {"A dog _ . It _ the _ .", "It … the XXXXX .", "cat", "cat", "sun"},
                                {"A _ or _ .", "A XXXXX or … .", "b", "b", "c"}}));
  EXPECT_EQ(faults(),
            "1 left out, blanks, options and answers are not of one number; 1 left out, options of unequal number; "
            "1 left out, not a question of this format; ");
  EXPECT_EQ(read(path).size(), 4U);  // seen by its first line
}

TEST_F(ClozeFiles, TheLastWordOfALambadaPassageIsAsked) {
  EXPECT_EQ(read(file("lambada.txt", "sam sat . ann saw sam\none word\n"), "lambada"),
            (std::vector<Texts>{{"sam sat . ", "ann saw XXXXX", "sam"}}));
  EXPECT_EQ(faults(), "1 left out, a passage of one sentence; ");
}

TEST_F(ClozeFiles, JsonLinesMayHaveChoices) {
  EXPECT_EQ(read(file("q.jsonl", R"({"document": "a b", "question": "_ ?", "answer": "b", "choices": ["a", " b ", ""]})"
                                 "\n"
                                 R"({"document": "a b", "question": "_ ?", "answer": "c", "candidates": ["a", "b"]})"
                                 "\n"
                                 R"({"document": "a b", "question": "_ ?", "answer": "a", "choices": "a"})"
                                 "\n")),
            (std::vector<Texts>{{"a b", "XXXXX ?", "b", "a", "b"}}));
  EXPECT_EQ(faults(), "1 left out, the answer is none of the choices; 1 left out, its choices are no texts; ");
}

// Sentences whose names and nouns are known.
std::string story(int n) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += fmt::format("Then Anna and Bertram gave the {} a {} . ", i % 2 == 0 ? "dog" : "cat",
                        i % 3 == 0 ? "bone" : "ball");
  return text + "\n";
}

TEST_F(ClozeFiles, QuestionsAreMadeOfAnyText) {
  const std::string text = file("text", story(9) + story(2) + story(8));
  const ClozeCounts counts = write_cloze({.files = {text},
                                          .folder = folder_.path() / "made",
                                          .words = "nouns",
                                          .sentences = 4,
                                          .step = 1,
                                          .candidates = 3,
                                          .valid = 0,
                                          .test = 0});
  EXPECT_EQ(counts.texts, 3);
  EXPECT_EQ(counts.short_texts, 1);
  EXPECT_EQ(counts.train, 9);
  const std::vector<Texts> found = read((folder_.path() / "made/train.jsonl").string());
  ASSERT_EQ(found.size(), 9U);
  const std::set<std::string> nouns{"dog", "cat", "bone", "ball"};
  for (const Texts& each : found) {
    EXPECT_EQ(each.size(), 6U);
    EXPECT_TRUE(nouns.contains(each[2])) << each[2];
    EXPECT_EQ(words_of_line(each[0]).size(), 40U);
    const auto words = words_of_line(each[0]);
    for (std::size_t i = 3; i < each.size(); ++i)
      EXPECT_NE(std::find(words.begin(), words.end(), each[i]), words.end());
    EXPECT_EQ(each[1].find(" " + each[2] + " "), std::string::npos) << "the answer is in the question";
  }
}

TEST_F(ClozeFiles, NamesAreCapitalisedInsideSentences) {
  const std::string text = file("text", story(5));
  write_cloze({.files = {text},
               .folder = folder_.path(),
               .words = "names",
               .sentences = 4,
               .candidates = 2,
               .valid = 0,
               .test = 0});
  for (const Texts& each : read((folder_.path() / "train.jsonl").string()))
    EXPECT_TRUE(each[2] == "Anna" || each[2] == "Bertram") << each[2];
  EXPECT_NE(message_of([&] {
              write_cloze({.files = {text}, .folder = folder_.path(), .sentences = 4});
            }).find("it is there already"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { write_cloze({.files = {text}, .folder = folder_.path() / "b", .words = "verbs"}); }),
            "--words: verbs is none of names, nouns and any");
}

TEST_F(ClozeFiles, ChineseWordsAreAskedAboutWhereBlanksAreBetweenThem) {
  // 狐狸 stands behind a measure word; the last question would have two blanks.
  const std::string story = "森林 里 有 一 只 狐狸 。 它 说 ： “ 我 是 好 狐狸 。 ” 大家 都 怕 这 只 狐狸 。 ";
  const std::string text =
      file("chinese.txt", story + story + "\n" + story + "_ 只 狐狸 。 走 了 。 _ 只 狐狸 。 " + "\n");
  write_cloze({.files = {text},
               .folder = folder_.path() / "chinese",
               .cut = "blanks",
               .sentences = 1,
               .candidates = 0,
               .valid = 0,
               .test = 0});
  const std::vector<Texts> made = read((folder_.path() / "chinese" / "train.jsonl").string());
  EXPECT_EQ(faults(), "");
  EXPECT_EQ(made, (std::vector<Texts>{
                      {"森林 里 有 一 只 狐狸 。", "它 说 ： “ 我 是 好 XXXXX 。 ”", "狐狸"},
                      {"大家 都 怕 这 只 狐狸 。", "森林 里 有 一 只 XXXXX 。", "狐狸"},
                      {"它 说 ： “ 我 是 好 狐狸 。 ”", "大家 都 怕 这 只 XXXXX 。", "狐狸"},
                      {"森林 里 有 一 只 狐狸 。", "它 说 ： “ 我 是 好 XXXXX 。 ”", "狐狸"},
                  }));
  write_cloze({.files = {text},
               .folder = folder_.path() / "whole",
               .cut = "blanks",
               .sentences = 1,
               .candidates = 0,
               .with_question = true,
               .valid = 0,
               .test = 0});
  EXPECT_EQ(read((folder_.path() / "whole" / "train.jsonl").string())[1],
            (Texts{"大家 都 怕 这 只 狐狸 。 森林 里 有 一 只 XXXXX 。", "森林 里 有 一 只 XXXXX 。", "狐狸"}));
  EXPECT_EQ(message_of([&] { write_cloze({.files = {text}, .folder = folder_.path() / "c", .cut = "words"}); }),
            "--cut: words is neither tokens nor blanks");
}

TEST(Stories, TheGoldSentenceHasTheAnswer) {
  for (const GoldExample& example : generate_stories(500, 3)) {
    ASSERT_EQ(example.evidences.size(), 1U);
    const auto words = words_of_line(example.texts[0]);
    const EraserEvidence& gold = example.evidences[0];
    const auto begin = words.begin() + gold.start_token, end = words.begin() + gold.end_token;
    EXPECT_EQ(std::count(begin, end, example.label), 1) << example.texts[0];
    EXPECT_EQ(with_blank(example.texts[1]).blanks, 1);
    EXPECT_EQ(example.texts[1].find(" " + example.label + " "), std::string::npos);
  }
}

}  // namespace
}  // namespace heed
