#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "heed/search/decoding.h"

namespace heed {

// Rush, Chopra, Weston 2015, section 5 (ABS+): words that stand in the text get a bonus,
//   s(y, x) = Σ_i (log p(y_i) + α·f(x, y_{i-2}, y_{i-1}, y_i))
// f is 1 or 0 for each of
//   y_i stands in x;  y_{i-1} y_i stand there side by side;  y_{i-2} y_{i-1} y_i do;  y_{i-1} stands there behind y_i
// The weights α are tuned by minimum_error.h.
struct ExtractiveFeatures {
  static constexpr std::size_t kCount = 4;
  static constexpr std::array<const char*, kCount> kNames{"unigram", "bigram", "trigram", "reordering"};
};
using ExtractiveValues = std::array<double, ExtractiveFeatures::kCount>;

// f of the last of `words`, or the sums over all of them.
ExtractiveValues extractive_features(std::span<const std::int32_t> text, std::span<const std::int32_t> words);
ExtractiveValues summed_extractive_features(std::span<const std::int32_t> text, std::span<const std::int32_t> words);

// A decoding whose words' log-probabilities have the bonus, so that any search looks for the best s. With weights of 0
// it gives what the other gives.
class ExtractiveDecoding final : public Decoding {
 public:
  // `texts` of the sources, as ids of the words that are written.
  ExtractiveDecoding(std::unique_ptr<Decoding> decoding, std::vector<std::vector<std::int32_t>> texts,
                     const ExtractiveValues& weights);

  Step step(const Ids& previous) override;
  void select(const Ids& rows) override;
  Index rows() const override { return decoding_->rows(); }

 private:
  struct Row {
    std::size_t source = 0;
    std::vector<std::int32_t> words = {};  // the last two, or fewer at first
  };
  std::unique_ptr<Decoding> decoding_;
  std::vector<std::vector<std::int32_t>> texts_, words_;  // words_: those of each text once
  ExtractiveValues weights_;
  std::vector<Row> rows_;
  bool begun_ = false;
};

}  // namespace heed
