#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heed/base/file.h"
#include "heed/data/corpora/inference.h"
#include "heed/data/corpora/labelled_corpus.h"
#include "heed/data/corpora/reviews.h"
#include "heed/data/sentences.h"
#include "heed/data/text_file.h"
#include "heed/data/word_links.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Lines = std::vector<std::string>;

Lines words_of_text(const std::string& text) {
  const auto views = words_of_line(text);
  return {views.begin(), views.end()};
}
Lines lines_of_file(const std::filesystem::path& path) { return LineReader(path.string()).rest(); }

const std::vector<GoldExample>& reviews() {
  static const std::vector<GoldExample> all = generate_reviews(6000, 3);
  return all;
}
const std::vector<GoldExample>& entailed_pairs() {
  static const std::vector<GoldExample> all = generate_inference_pairs(6000, 3);
  return all;
}

std::string all_of(const std::vector<GoldExample>& examples) {
  std::string text;
  for (const GoldExample& example : examples)
    text += fmt::format("{}\t{}\t{}\n", example.label, fmt::join(example.texts, "\t"), example.links);
  return text;
}

TEST(LabelledCorpora, AreDeterminedByTheirSeeds) {
  EXPECT_EQ(all_of(generate_reviews(100, 1)), all_of(generate_reviews(100, 1)));
  EXPECT_NE(all_of(generate_reviews(100, 1)), all_of(generate_reviews(100, 2)));
  EXPECT_EQ(all_of(generate_inference_pairs(100, 1)), all_of(generate_inference_pairs(100, 1)));
  EXPECT_NE(all_of(generate_inference_pairs(100, 1)), all_of(generate_inference_pairs(100, 2)));
}

TEST(LabelledCorpora, LabelsAreEvenAndTextsDistinct) {
  for (const auto* examples : {&reviews(), &entailed_pairs()}) {
    std::map<std::string, int> labels;
    std::set<Lines> texts;
    for (const GoldExample& example : *examples) {
      ++labels[example.label];
      EXPECT_TRUE(texts.insert(example.texts).second) << example.texts[0];
    }
    ASSERT_EQ(labels.size(), 3U);
    for (const auto& [label, count] : labels) EXPECT_NEAR(count, 2000, 200) << label;
  }
}

TEST(LabelledCorpora, EvidencesAreWhereTheySay) {
  for (const auto* examples : {&reviews(), &entailed_pairs()})
    for (const GoldExample& example : *examples) {
      ASSERT_FALSE(example.evidences.empty()) << example.texts[0];
      for (const EraserEvidence& evidence : example.evidences) {
        const Lines tokens = words_of_text(example.texts.at(evidence.docid == "0" ? 0 : 1));
        ASSERT_LE(evidence.end_token, static_cast<Index>(tokens.size()));
        const Lines part(tokens.begin() + evidence.start_token, tokens.begin() + evidence.end_token);
        EXPECT_EQ(fmt::format("{}", fmt::join(part, " ")), evidence.text);
      }
    }
}

// The splitter finds the sentences that were made, and the evidences of a review are in one of them.
TEST(Reviews, HaveSentencesOfWhichOneDecides) {
  std::set<std::size_t> lengths;
  for (const GoldExample& example : reviews()) {
    const std::string& text = example.texts[0];
    const std::vector<std::size_t> ends = sentence_ends(text);
    lengths.insert(ends.size());
    const Index sentence = example.evidences[0].start_sentence;
    ASSERT_LT(sentence, static_cast<Index>(ends.size()));
    const auto number = static_cast<std::size_t>(sentence);
    const auto tokens_before = [&](std::size_t end) {
      return static_cast<Index>(words_of_text(text.substr(0, end)).size());
    };
    const Index begin = number == 0 ? 0 : tokens_before(ends[number - 1]), end = tokens_before(ends[number]);
    for (const EraserEvidence& evidence : example.evidences) {
      EXPECT_EQ(evidence.start_sentence, sentence);
      EXPECT_EQ(evidence.end_sentence, sentence + 1);
      EXPECT_GE(evidence.start_token, begin) << text;
      EXPECT_LE(evidence.end_token, end) << text;
    }
    EXPECT_EQ(std::count(text.begin(), text.end(), '.'), static_cast<std::ptrdiff_t>(ends.size())) << text;
  }
  EXPECT_EQ(*lengths.begin(), static_cast<std::size_t>(kReviewShortest));
  EXPECT_EQ(*lengths.rbegin(), static_cast<std::size_t>(kReviewLongest));
}

// Of two labels that a word could tell apart, it tells little: each word stands beside either about as often.
TEST(Reviews, NoWordTellsGoodFromBad) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (const GoldExample& example : reviews()) {
    const Lines tokens = words_of_text(example.texts[0]);
    for (const std::string& word : std::set(tokens.begin(), tokens.end())) ++counts[word][example.label];
  }
  for (auto& [word, labels] : counts) {
    const double good = labels["good"], bad = labels["bad"];
    if (good + bad < 300) continue;
    EXPECT_NEAR(good / (good + bad), 0.5, 0.1) << word;
  }
}

TEST(Inference, LinksJoinWordsOfBothTexts) {
  std::size_t crossing = 0;
  for (const GoldExample& example : entailed_pairs()) {
    const Lines premise = words_of_text(example.texts[0]), hypothesis = words_of_text(example.texts[1]);
    const WordLinks links = read_word_links(example.links).value();
    ASSERT_GE(links.size(), 3U);
    bool crosses = false;
    for (const auto& [p, h] : links) {
      ASSERT_LT(p, static_cast<Index>(premise.size()));
      ASSERT_LT(h, static_cast<Index>(hypothesis.size()));
      for (const auto& [q, g] : links) crosses = crosses || (p < q && h > g);
    }
    crossing += crosses ? 1 : 0;
  }
  EXPECT_GT(crossing, entailed_pairs().size() / 20);  // the passive
}

// Both directions of a pair are among the pairs, with the labels that logic gives them.
TEST(Inference, DirectionAndNegationDecide) {
  std::map<std::pair<std::string, std::string>, std::string> labels;
  for (const GoldExample& example : generate_inference_pairs(60'000, 5))
    labels[{example.texts[0], example.texts[1]}] = example.label;
  std::map<std::string, int> reversed;
  for (const auto& [texts, label] : labels)
    if (const auto other = labels.find({texts.second, texts.first}); other != labels.end())
      ++reversed[label + " " + other->second];
  EXPECT_GT(reversed["entailment neutral"], 100);
  EXPECT_EQ(reversed["entailment contradiction"], 0);
  EXPECT_EQ(reversed["neutral contradiction"], 0);
  const auto negations = [&](const char* wanted) {
    int count = 0;
    for (const auto& [texts, found] : labels)
      count += found == wanted && texts.second.find(" not ") != std::string::npos ? 1 : 0;
    return count;
  };
  for (const char* each : {"entailment", "neutral", "contradiction"}) EXPECT_GT(negations(each), 3000) << each;
}

// Whichever way the grammar comes to a pair, it gives it one label.
TEST(Inference, APairHasOneLabel) {
  std::map<Lines, std::string> labels;
  int met_again = 0;
  for (const std::uint64_t seed : {1, 2, 3})
    for (const GoldExample& example : generate_inference_pairs(30'000, seed)) {
      const auto [known, is_new] = labels.emplace(example.texts, example.label);
      met_again += is_new ? 0 : 1;
      EXPECT_EQ(known->second, example.label) << example.texts[0] << " | " << example.texts[1];
    }
  EXPECT_GT(met_again, 1000);
}

TEST(LabelledCorpora, CountsHaveBounds) {
  EXPECT_EQ(message_of([] { generate_inference_pairs(1'000'001, 1); }),
            "[inference] 1000001 pairs are asked for; 1 to 1000000 can be had");
  EXPECT_EQ(message_of([] { generate_reviews(0, 1); }), "[reviews] 0 documents are asked for; 1 to 1000000 can be had");
}

class LabelledFiles : public testing::Test {
 protected:
  LabelledCorpusOptions options(std::vector<std::string> columns) const {
    return {.folder = folder_.path() / "new", .columns = std::move(columns), .valid = 0.1, .test = 0.2};
  }
  TemporaryFolder folder_;
};

TEST_F(LabelledFiles, GoldGoesWithTheTestLineByLine) {
  const LabelledCorpusOptions given = options({"premise", "hypothesis"});
  const std::vector<GoldExample> examples(entailed_pairs().begin(), entailed_pairs().begin() + 500);
  const LabelledCorpusCounts counts = write_labelled_corpus(given, examples);
  EXPECT_EQ(counts.train + counts.valid + counts.test, 500);
  const Lines test = lines_of_file(given.folder / "test.tsv"), links = lines_of_file(given.folder / "test.links");
  const std::vector<EraserAnnotation> gold = read_eraser_annotations((given.folder / "test.gold.jsonl").string());
  ASSERT_EQ(test.size(), static_cast<std::size_t>(counts.test));
  ASSERT_EQ(links.size(), test.size());
  ASSERT_EQ(gold.size(), test.size());
  std::map<std::string, const GoldExample*> by_line;
  for (const GoldExample& example : examples)
    by_line[fmt::format("{}\t{}", example.label, fmt::join(example.texts, "\t"))] = &example;
  for (std::size_t i = 0; i < test.size(); ++i) {
    const GoldExample& example = *by_line.at(test[i]);
    EXPECT_EQ(links[i], example.links);
    EXPECT_EQ(gold[i].classification, example.label);
    EXPECT_EQ(gold[i].annotation_id, fmt::format("test-{}", i + 1));
    EXPECT_EQ(gold[i].docids, (Lines{gold[i].annotation_id + "_premise", gold[i].annotation_id + "_hypothesis"}));
    ASSERT_EQ(gold[i].evidences.size(), 1U);
    ASSERT_EQ(gold[i].evidences[0].size(), example.evidences.size());
    for (std::size_t e = 0; e < example.evidences.size(); ++e) {
      EXPECT_EQ(gold[i].evidences[0][e].start_token, example.evidences[e].start_token);
      EXPECT_EQ(gold[i].evidences[0][e].docid, gold[i].docids[example.evidences[e].docid == "0" ? 0 : 1]);
    }
  }
}

TEST_F(LabelledFiles, NoTextOfTheTestIsInTraining) {
  for (const auto& [columns, examples] :
       {std::pair{Lines{"document"}, &reviews()}, std::pair{Lines{"premise", "hypothesis"}, &entailed_pairs()}}) {
    LabelledCorpusOptions given = options(columns);
    given.force = true;
    write_labelled_corpus(given, *examples);
    const auto first_texts = [&](const char* part) {
      std::set<std::string> texts;
      for (const std::string& line : lines_of_file(given.folder / part)) texts.emplace(columns_of_line(line).at(1));
      return texts;
    };
    const std::set<std::string> train = first_texts("train.tsv");
    for (const char* part : {"valid.tsv", "test.tsv"})
      for (const std::string& text : first_texts(part)) EXPECT_FALSE(train.contains(text)) << text;
  }
}

TEST_F(LabelledFiles, NothingIsReplacedUnlessAsked) {
  LabelledCorpusOptions given = options({"document"});
  const std::vector<GoldExample> examples(reviews().begin(), reviews().begin() + 20);
  write_labelled_corpus(given, examples);
  EXPECT_FALSE(std::filesystem::exists(given.folder / "test.links"));
  EXPECT_EQ(message_of([&] { write_labelled_corpus(given, examples); }),
            (given.folder / "train.tsv").string() + ": it is there already; --force replaces it");
  given.force = true;
  EXPECT_EQ(message_of([&] { write_labelled_corpus(given, {}); }), "[corpus] there is nothing to train on");
  EXPECT_FALSE(lines_of_file(given.folder / "train.tsv").empty());  // as it was
  given.valid = given.test = 0.5;
  EXPECT_NE(message_of([&] { write_labelled_corpus(given, examples); }).find("leave nothing for training"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
