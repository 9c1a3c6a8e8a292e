#include "heed/metrics/caption_scores.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "heed/metrics/caption_words.h"

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

// Sums of a few dozen products of logarithms in double; BLEU's tiny numbers have a relative error.
constexpr double kTolerance = 1e-10;

const std::vector<CaptionCase> kImages{
    {"a dog is running on the grass",
     {"a dog runs on the grass", "a brown dog is running through the green grass", "the dog is running"}},
    {"two kids play in the sand",
     {"two children play on a beach", "kids playing in the sand",
      "two young children play in the sand near the water"}},
    {"a man is riding a bike on a hill on a bike", {"a man rides a bike down a hill", "a man on a mountain bike"}},
    {"a dog on a sofa", {"a black cat sleeps on a red sofa"}}};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

BleuCounts counts_of(std::span<const CaptionCase> images) {
  BleuCounts sum;
  for (const CaptionCase& image : images) sum += caption_bleu_counts(image);
  return sum;
}

TEST(CaptionScores, Bleu) {
  const BleuCounts counts = counts_of(kImages);
  EXPECT_EQ(counts.matches, (std::array<Index, 4>{24, 13, 4, 1}));
  EXPECT_EQ(counts.total, (std::array<Index, 4>{30, 26, 22, 18}));
  EXPECT_EQ(counts.hypothesis_length, 30);
  EXPECT_EQ(counts.reference_length, 28);
  const CaptionBleu scores = caption_bleu(counts), expected{.8, .632456, .417413, .252119};
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(scores[n], expected[n], 5e-7);
  const std::array<double, 4> each{9.55443e-05, .562341, 6.96764e-09, 7.41554e-09};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(caption_bleu(caption_bleu_counts(kImages[i]))[3] / each[i], 1, 1e-5);
  const CaptionBleu brief = caption_bleu(caption_bleu_counts({"a b", {"a b c d e"}}));
  const CaptionBleu known{.22313, .22313, .0022313, .00022313};
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(brief[n] / known[n], 1, 1e-5);
}

TEST(CaptionScores, RougeL) {
  const std::array<double, 4> expected{.842930, .813333, .654506, .590799};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(caption_rouge_l(kImages[i]), expected[i], 5e-7);
  EXPECT_EQ(caption_rouge_l({"", {"a"}}), 0);
}

TEST(CaptionScores, Consensus) {
  const std::array<double, 4> d{3.318156, 2.650719, 1.241512, .719831}, plain{3.551824, 2.944997, 2.323435, .815675};
  const std::vector<double> found_d = cider(kImages, Cider::d), found_plain = cider(kImages, Cider::plain);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found_d[i], d[i], 5e-7);
    EXPECT_NEAR(found_plain[i], plain[i], 5e-7);
  }
  EXPECT_NEAR(mean(found_d), 1.982554, 5e-7);
  EXPECT_NEAR(mean(found_plain), 2.408983, 5e-7);
}

// What pycocoevalcap gave: tests/reference/make_caption_cases.py.
TEST(CaptionScores, AreThoseOfPycocoevalcap) {
  std::ifstream file(HEED_SOURCE_DIR "/tests/metrics/data/caption_cases.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const auto first = nlohmann::json::parse(line);
  EXPECT_GE(first.at("written").size(), 100u);
  for (std::size_t i = 0; i < first.at("written").size(); ++i)
    EXPECT_EQ(caption_line(first.at("written").at(i).get<std::string>()), first.at("tokens").at(i).get<std::string>())
        << first.at("written").at(i);

  std::size_t cases = 0;
  for (; std::getline(file, line); ++cases) {
    SCOPED_TRACE(cases);
    const auto recorded = nlohmann::json::parse(line);
    std::vector<CaptionCase> images;
    for (std::size_t i = 0; i < recorded.at("captions").size(); ++i)
      images.push_back({recorded.at("captions").at(i), recorded.at("references").at(i).get<Texts>()});
    const CaptionBleu bleu = caption_bleu(counts_of(images));
    for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(bleu[n], recorded.at("bleu").at(n).get<double>(), kTolerance);
    const std::vector<double> d = cider(images, Cider::d), plain = cider(images, Cider::plain);
    for (std::size_t i = 0; i < images.size(); ++i) {
      EXPECT_NEAR(caption_bleu(caption_bleu_counts(images[i]))[3], recorded.at("bleu4_of_each").at(i).get<double>(),
                  kTolerance);
      EXPECT_NEAR(caption_rouge_l(images[i]), recorded.at("rouge_of_each").at(i).get<double>(), kTolerance);
      EXPECT_NEAR(d[i], recorded.at("cider_d_of_each").at(i).get<double>(), kTolerance);
      EXPECT_NEAR(plain[i], recorded.at("cider_of_each").at(i).get<double>(), kTolerance);
    }
    EXPECT_NEAR(mean(d), recorded.at("cider_d").get<double>(), kTolerance);
  }
  EXPECT_GE(cases, 40u);
}

TEST(CaptionWords, ArePartedAsInTheTreebank) {
  EXPECT_EQ(caption_line("A man's t-shirt isn't red, it's \"blue\"."), "a man 's t-shirt is n't red it 's blue");
  EXPECT_EQ(caption_line("He can't; she cannot go - they're gonna leave... now!"),
            "he ca n't she can not go they 're gon na leave now");
  EXPECT_EQ(caption_line("It costs $5.50 or 50% (maybe 3-4) of a / b"),
            "it costs $ 5.50 or 50 % -lrb- maybe 3-4 -rrb- of a / b");
  EXPECT_EQ(caption_line("The U.S. flag at 10:30 with Mr. Smith, 1/2 [of] {it} #tag"),
            "the u.s. flag at 10:30 with mr. smith 1/2 -lsb- of -rsb- -lcb- it -rcb- #tag");
  EXPECT_EQ(caption_line("I'd wanna 'tis dogs’ “toys” — so…"), "i 'd wan na 't is dogs toys so");
  EXPECT_EQ(caption_line("Cars of the '80s. It's 1960's 'best' (red)."),
            "cars of the '80s it 's 1960 's best -lrb- red -rrb-");
  EXPECT_EQ(caption_line(" ... -- !"), "");
}

}  // namespace
}  // namespace heed::test
