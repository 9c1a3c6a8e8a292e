#include <gtest/gtest.h>

#include <cmath>

#include "heed/metrics/aer.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/by_length.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/perplexity.h"
#include "support/messages.h"

namespace heed::test {
namespace {

using Tokens = std::vector<std::string>;

TEST(Tokens, OfThe13aRules) {
  const auto tokens = [](const char* text) { return tokenized(text, BleuTokens::v13a); };
  EXPECT_EQ(tokens("Er sagt: \"1,000.5 (fast)\"."),
            (Tokens{"Er", "sagt", ":", "\"", "1,000.5", "(", "fast", ")", "\"", "."}));
  EXPECT_EQ(tokens("10-20 E-Mails, d.h. viele..."),
            (Tokens{"10", "-", "20", "E-Mails", ",", "d", ".", "h", ".", "viele", ".", ".", "."}));
  EXPECT_EQ(tokens("R&amp;D &quot;x&quot; &lt;"), (Tokens{"R", "&", "D", "\"", "x", "\"", "<"}));
  EXPECT_EQ(tokens(""), Tokens{});
}

TEST(Tokens, OfCharactersAndWords) {
  EXPECT_EQ(tokenized("über 犬\xE3\x80\x80x", BleuTokens::characters), (Tokens{"ü", "b", "e", "r", "犬", "x"}));
  EXPECT_EQ(tokenized(" a,b\xC2\xA0 c. ", BleuTokens::none), (Tokens{"a,b", "c."}));
}

TEST(BleuScore, OfCounts) {
  // Precisions 1, 1/2, 1/4, 1/8 and half the length: exp(1 - 2) · (1/64)^(1/4).
  BleuCounts counts{{8, 4, 2, 1}, {8, 8, 8, 8}, 8, 16};
  EXPECT_NEAR(bleu(counts).score, 100 * std::exp(-1) * std::pow(1.0 / 64, .25), 1e-9);
  counts.matches[3] = 0;
  EXPECT_EQ(bleu(counts, {.smoothing = BleuSmoothing::none}).score, 0);
  EXPECT_GT(bleu(counts).score, 0);
}

TEST(BleuScore, WrongCallsAreErrors) {
  EXPECT_EQ(message_of([] { bleu_counts("a", {}); }), "[bleu] a sentence has no reference");
  EXPECT_EQ(message_of([] { chrf_counts("a", {}); }), "[chrf] a sentence has no reference");
  const std::vector<std::string> two = {"a", "b"};
  EXPECT_EQ(message_of([&] { corpus_bleu(two, {}); }), "[bleu] 2 hypotheses for 0 references");
  EXPECT_EQ(message_of([&] { corpus_chrf(two, {}); }), "[chrf] 2 hypotheses for 0 references");
  EXPECT_NE(message_of([] { bleu_tokens_named("13b"); }).find("did you mean 13a"), std::string::npos);
  EXPECT_NE(message_of([] { bleu_smoothing_named("flor"); }).find("did you mean floor"), std::string::npos);
}

TEST(AlignmentErrorRate, GoldenNumbers) {
  const AlignmentLinks gold = parse_alignment("1-1 2-2 2?3 3p3", 1), proposed = parse_alignment("1-1 2-3 4-4", 1);
  const AlignmentCounts counts = compare_alignment(proposed, gold);
  EXPECT_NEAR(counts.error_rate(), .4, 1e-12);
  EXPECT_NEAR(counts.precision(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(counts.recall(), .5, 1e-12);
  EXPECT_EQ(compare_alignment(gold, gold).error_rate(), 0);
}

TEST(AlignmentErrorRate, OfACorpusIsOfSummedCounts) {
  AlignmentCounts sum = compare_alignment(parse_alignment("0-0 1-1"), parse_alignment("0-0 1-1 2-2"));
  sum += compare_alignment(parse_alignment("0-1"), parse_alignment("0-0"));
  // 2 of 3 proposed are right, and 2 of 4 sure ones found.
  EXPECT_NEAR(sum.error_rate(), 1 - 4.0 / 7, 1e-12);
  EXPECT_NEAR(sum.precision(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(sum.recall(), .5, 1e-12);
  EXPECT_EQ(AlignmentCounts().error_rate(), 0);
}

TEST(AlignmentErrorRate, LinksAreParsedStrictly) {
  const AlignmentLinks links = parse_alignment("2-1 0-0 2-1 1?1");
  EXPECT_EQ(links.sure, (std::vector<AlignmentLinks::Link>{{0, 0}, {2, 1}}));
  EXPECT_EQ(links.possible, (std::vector<AlignmentLinks::Link>{{0, 0}, {1, 1}, {2, 1}}));
  for (const char* wrong : {"1", "1-", "-1", "1-x", "1:2", "1-2-3", "1--2"})
    EXPECT_NE(message_of([&] { parse_alignment(wrong); }).find("is no link"), std::string::npos) << wrong;
  EXPECT_NE(message_of([] { parse_alignment("0-1", 1); }).find("counted from 1"), std::string::npos);
}

TEST(Perplexity, IsTheNumberOfEvenChoices) {
  EXPECT_NEAR(perplexity(7 * std::log(1.0 / 12), 7), 12, 1e-9);
  EXPECT_EQ(message_of([] { perplexity(-1, 0); }), "[perplexity] there are no words");
}

TEST(BleuByLength, SumsTheSentencesOfABucket) {
  const std::vector<Index> lengths = {1, 10, 11, 0, 35};
  const BleuCounts right{{5, 4, 3, 2}, {5, 4, 3, 2}, 5, 5}, wrong{{0, 0, 0, 0}, {5, 4, 3, 2}, 5, 5};
  const std::vector<BleuCounts> counts = {right, wrong, right, right, wrong};
  const std::vector<LengthBucket> buckets = bleu_by_length(lengths, counts);
  ASSERT_EQ(buckets.size(), 3U);
  BleuCounts first = right;
  first += wrong;
  first += right;
  EXPECT_EQ(buckets[0].shortest, 1);
  EXPECT_EQ(buckets[0].longest, 10);
  EXPECT_EQ(buckets[0].sentences, 3);
  EXPECT_EQ(buckets[0].bleu.score, bleu(first).score);
  EXPECT_EQ(buckets[1].shortest, 11);
  EXPECT_NEAR(buckets[1].bleu.score, 100, 1e-9);
  EXPECT_EQ(buckets[2].longest, 40);
  EXPECT_EQ(buckets[2].bleu.score, 0);
}

}  // namespace
}  // namespace heed::test
