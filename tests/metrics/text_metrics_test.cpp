#include "heed/metrics/text_metrics.h"

#include <gtest/gtest.h>

#include "support/messages.h"

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

const Texts kTexts{"seven three two", "the cat sat on on the mat", "open the read door now please"};
const std::vector<Texts> kReferences{{"seven one three two"}, {"the cat sat on the mat"}, {"open the red door now"}};

double score(const std::string& name, const TextMetricOptions& options = {}, const Texts& texts = kTexts,
             const std::vector<Texts>& references = kReferences) {
  return score_of_all(text_metric_named(name, options).by_samples(texts, references), texts.size());
}

TEST(TextMetrics, AreThoseOfTheirFunctions) {
  EXPECT_EQ(score("bleu"), corpus_bleu(kTexts, kReferences).score);
  EXPECT_EQ(score("chrf"), corpus_chrf(kTexts, kReferences));
  const BleuOptions characters{.tokens = BleuTokens::characters};
  EXPECT_EQ(score("bleu", {.bleu = characters}), corpus_bleu(kTexts, kReferences, characters).score);
  for (const char* name : {"rouge1", "rouge2", "rougeL", "rougeLsum"}) {
    double sum = 0;
    for (std::size_t i = 0; i < kTexts.size(); ++i)
      sum += 100 * rouge(rouge_named(name), kTexts[i], kReferences[i], {.stem = true}).f;
    EXPECT_NEAR(score(name, {.rouge = {.stem = true}}), sum / 3, 1e-9) << name;
  }
  EXPECT_NEAR(score("wer"), 26.6667, 5e-5);
  EXPECT_NEAR(score("cer"), 24.1935, 5e-5);
  EXPECT_EQ(score("per"), score("wer"));
  EXPECT_FALSE(text_metric_named("wer").higher_is_better);
  EXPECT_EQ(text_metric_named("cider-d").title, "CIDEr-D");
}

TEST(TextMetrics, ErrorsAreCountedAgainstTheBestReference) {
  const Texts text{"a b c"};
  const std::vector<Texts> references{{"x y z", "a b c d", "a b"}};
  EXPECT_EQ(score("wer", {}, text, references), 25);  // one of four; against the last it is one of two
  const Texts phones{"h# ix q axr"};
  const std::vector<Texts> right{{"sil ih er"}};
  EXPECT_EQ(score("per", {.fold_phones = true}, phones, right), 0);
  EXPECT_GT(score("per", {}, phones, right), 0);
}

TEST(TextMetrics, CaptionsAreCutIntoWords) {
  const Texts captions{"A dog is running on the grass.", "Two kids play in the sand!"};
  const Texts plain{"a dog is running on the grass", "two kids play in the sand"};
  const std::vector<Texts> references{{"A dog runs, on the grass"}, {"Kids playing in the sand", "two children play"}};
  for (const char* name : {"bleu1", "bleu4", "coco-rouge", "cider", "cider-d"}) {
    EXPECT_GT(score(name, {}, captions, references), 0) << name;
    EXPECT_EQ(score(name, {}, captions, references), score(name, {}, plain, references)) << name;
  }
}

TEST(TextMetrics, SayWhatTheyAre) {
  EXPECT_EQ(text_metric_named("rougeL", {.rouge = {.stem = true}}).signature(2),
            rouge_signature(2, RougeOptions{.stem = true}));
  EXPECT_EQ(text_metric_named("wer").signature(1), "nrefs:1|case:mixed|unit:word|refs:best");
  EXPECT_EQ(text_metric_named("per", {.fold_phones = true}).signature(1),
            "nrefs:1|case:mixed|unit:word|refs:best|phones:39");
  EXPECT_EQ(text_metric_named("cider").signature(5), "nrefs:5|case:lc|tok:ptb");
  EXPECT_EQ(message_of([] { text_metric_named("ciderd"); }),
            "[metrics] there is no metric ciderd; did you mean cider?");
  EXPECT_EQ(message_of([] { score("wer", {}, {"a"}, {}); }), "[metrics] 1 texts for 0 references");
}

}  // namespace
}  // namespace heed::test
