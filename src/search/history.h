#pragma once

#include <cstdint>
#include <vector>

#include "heed/search/search.h"

namespace heed {

// Every word that a search has tried, each pointing back to the one before it. Words and weights of a hypothesis are
// collected only when it is asked for.
class SearchHistory {
 public:
  static constexpr std::int32_t kStart = -1;  // the parent of first words

  // Keeps the weights [rows, m] of a step, empty without attention, and the shares [rows] that are not copied, empty
  // without copying; what is added next was predicted by it.
  void begin_step(const Tensor& weights, const Tensor& generates = {}) {
    weights_.push_back(weights), generates_.push_back(generates);
  }
  // `log_probability` is that of all words up to this one.
  std::int32_t add(std::int32_t parent, Index row, std::int32_t word, double log_probability) {
    entries_.push_back({parent, static_cast<std::int32_t>(row), word, static_cast<std::int32_t>(weights_.size()) - 1,
                        log_probability});
    return static_cast<std::int32_t>(entries_.size()) - 1;
  }
  // The words up to entry `end`, in order, which is itself left out.
  std::vector<std::int32_t> words(std::int32_t end) const;
  // The same with its own; none of kStart.
  std::vector<std::int32_t> words_with(std::int32_t last) const;
  // [n + 1, length], with entry `end`'s row; empty without attention.
  Tensor weights(std::int32_t end, Index length) const;
  // Of each word up to entry `end`, which is the last.
  std::vector<double> log_probabilities(std::int32_t end) const;
  // The same of the shares that were not copied; empty without copying.
  std::vector<double> generates(std::int32_t end) const;
  // The row of entry `at` alone, [length]; empty without attention.
  std::span<const Real> row(std::int32_t at, Index length) const;
  std::int32_t word(std::int32_t at) const { return entry(at).word; }

 private:
  struct Entry {
    std::int32_t parent, row, word, step;
    double log_probability;
  };
  const Entry& entry(std::int32_t i) const { return entries_[static_cast<std::size_t>(i)]; }

  std::vector<Entry> entries_;
  std::vector<Tensor> weights_, generates_;  // one per step
};

}  // namespace heed
