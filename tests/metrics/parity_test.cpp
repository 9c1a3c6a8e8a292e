#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"

// Replays what sacreBLEU gave (tests/reference/make_metric_cases.py): corpora and their sentences, all options.

namespace heed::test {
namespace {

// Sums of a few logarithms and quotients in double, in the same order.
constexpr double kParityTolerance = 1e-9;

struct MetricCase {
  std::vector<std::string> hypotheses;
  std::vector<std::vector<std::string>> references;
  nlohmann::json recorded;
};

std::vector<MetricCase> read_cases() {
  std::ifstream file(HEED_SOURCE_DIR "/tests/metrics/data/metric_cases.jsonl");
  std::vector<MetricCase> cases;
  for (std::string line; std::getline(file, line);) {
    MetricCase& each = cases.emplace_back();
    each.recorded = nlohmann::json::parse(line);
    each.hypotheses = each.recorded.at("hypotheses").get<std::vector<std::string>>();
    each.references = each.recorded.at("references").get<std::vector<std::vector<std::string>>>();
  }
  return cases;
}

TEST(MetricParity, Bleu) {
  const std::vector<MetricCase> cases = read_cases();
  ASSERT_GE(cases.size(), 60U);
  for (std::size_t number = 0; number < cases.size(); ++number) {
    SCOPED_TRACE(number);
    const auto& [hypotheses, references, recorded] = cases[number];
    const nlohmann::json& given = recorded.at("options");
    BleuOptions options{.tokens = bleu_tokens_named(given.at("tokenize")),
                        .lowercase = given.at("lowercase"),
                        .smoothing = bleu_smoothing_named(given.at("smooth_method"))};
    if (!given.at("smooth_value").is_null()) options.smoothing_value = given.at("smooth_value").get<double>();

    const Bleu found = corpus_bleu(hypotheses, references, options);
    EXPECT_NEAR(found.score, recorded.at("bleu").get<double>(), kParityTolerance);
    EXPECT_NEAR(found.brevity_penalty, recorded.at("brevity_penalty").get<double>(), kParityTolerance);
    for (std::size_t n = 0; n < BleuCounts::kOrder; ++n)
      EXPECT_NEAR(found.precisions[n], recorded.at("precisions").at(n).get<double>(), kParityTolerance);
    EXPECT_EQ(found.counts.hypothesis_length, recorded.at("lengths").at(0).get<Index>());
    EXPECT_EQ(found.counts.reference_length, recorded.at("lengths").at(1).get<Index>());
    EXPECT_EQ(bleu_signature(references[0].size(), options), recorded.at("signature").get<std::string>());

    options.effective_order = true;
    for (std::size_t i = 0; i < hypotheses.size(); ++i)
      EXPECT_NEAR(bleu(bleu_counts(hypotheses[i], references[i], options), options).score,
                  recorded.at("sentence_bleu").at(i).get<double>(), kParityTolerance)
          << hypotheses[i];
  }
}

TEST(MetricParity, Chrf) {
  for (const auto& [hypotheses, references, recorded] : read_cases()) {
    const nlohmann::json& given = recorded.at("chrf_options");
    const ChrfOptions options{.words = given.at("word_order"),
                              .beta = given.at("beta"),
                              .lowercase = given.at("lowercase"),
                              .white_space = given.at("whitespace")};
    EXPECT_NEAR(corpus_chrf(hypotheses, references, options), recorded.at("chrf").get<double>(), kParityTolerance);
    EXPECT_EQ(chrf_name(options), recorded.at("chrf_name").get<std::string>());
    EXPECT_EQ(chrf_signature(references[0].size(), options), recorded.at("chrf_signature").get<std::string>());
    for (std::size_t i = 0; i < hypotheses.size(); ++i)
      EXPECT_NEAR(chrf(chrf_counts(hypotheses[i], references[i], options), options),
                  recorded.at("sentence_chrf").at(i).get<double>(), kParityTolerance)
          << hypotheses[i];
  }
}

}  // namespace
}  // namespace heed::test
