#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/random.h"
#include "heed/models/system.h"

namespace heed::test {

// A model made of tables: the next word depends on the source and the last word alone, and so do the weights.
struct WordTables {
  Index vocabulary = 0;
  std::vector<Index> lengths;                      // of each source
  std::vector<std::vector<double>> probabilities;  // [sources][vocabulary · vocabulary], rows are previous words
  std::vector<std::vector<double>> weights;        // [sources][vocabulary · length]

  // Sharper tables have likelier words.
  static WordTables random(Index sources, Index vocabulary, std::uint64_t seed, double sharpness = 1.5) {
    RandomSequence numbers(RandomKey{seed, 0});
    const auto rows = [&numbers](Index count, Index width, double scale) {
      std::vector<double> table;
      for (Index i = 0; i < count; ++i) {
        double sum = 0;
        for (Index j = 0; j < width; ++j) sum += table.emplace_back(std::exp(scale * numbers.normal()));
        for (Index j = 0; j < width; ++j) table[static_cast<std::size_t>(i * width + j)] /= sum;
      }
      return table;
    };
    WordTables tables{.vocabulary = vocabulary, .lengths = {}, .probabilities = {}, .weights = {}};
    for (Index s = 0; s < sources; ++s) {
      tables.lengths.push_back(1 + static_cast<Index>(numbers.below(4)));
      tables.probabilities.push_back(rows(vocabulary, vocabulary, sharpness));
      tables.weights.push_back(rows(vocabulary, tables.lengths.back(), 1));
    }
    return tables;
  }
  Real log_probability(Index source, std::int32_t previous, std::int32_t word) const {
    return static_cast<Real>(std::log(
        probabilities[static_cast<std::size_t>(source)][static_cast<std::size_t>(previous * vocabulary + word)]));
  }
  double log_probability(Index source, const std::vector<std::int32_t>& words, std::int32_t begin = 1,
                         std::int32_t end = 2) const {
    double sum = 0;
    std::int32_t previous = begin;
    for (const std::int32_t word : words) {
      sum += static_cast<double>(log_probability(source, previous, word));
      previous = word;
    }
    return sum + static_cast<double>(log_probability(source, previous, end));
  }
  // [n + 1, m], with the end's row.
  Tensor weights_along(Index source, const std::vector<std::int32_t>& words, std::int32_t begin = 1) const {
    const auto s = static_cast<std::size_t>(source);
    Tensor result(Shape{static_cast<Index>(words.size()) + 1, lengths[s]});
    Real* at = result.data();
    for (std::size_t t = 0; t <= words.size(); ++t)
      for (Index j = 0; j < lengths[s]; ++j)
        *at++ =
            static_cast<Real>(weights[s][static_cast<std::size_t>((t == 0 ? begin : words[t - 1]) * lengths[s] + j)]);
    return result;
  }
  Ids length_ids() const {
    Ids ids(Shape{static_cast<Index>(lengths.size())});
    for (std::size_t i = 0; i < lengths.size(); ++i) ids.data()[i] = static_cast<std::int32_t>(lengths[i]);
    return ids;
  }
  // One source alone.
  WordTables only(Index source) const {
    const auto s = static_cast<std::size_t>(source);
    return {vocabulary, {lengths[s]}, {probabilities[s]}, {weights[s]}};
  }
};

class TableDecoding final : public Decoding {
 public:
  explicit TableDecoding(const WordTables& tables, bool attention = true) : tables_(tables), attention_(attention) {
    for (std::size_t i = 0; i < tables.lengths.size(); ++i) {
      sources_.push_back(static_cast<Index>(i));
      widest_ = std::max(widest_, tables.lengths[i]);
    }
  }
  Step step(const Ids& previous) override {
    EXPECT_EQ(previous.size(), rows());
    steps.push_back(rows());
    Step step{Tensor(Shape{rows(), tables_.vocabulary}), attention_ ? Tensor(Shape{rows(), widest_}, 0) : Tensor(),
              true};
    for (Index row = 0; row < rows(); ++row) {
      const Index source = sources_[static_cast<std::size_t>(row)];
      const std::int32_t word = previous.data()[row];
      for (Index next = 0; next < tables_.vocabulary; ++next)
        step.words.data()[row * tables_.vocabulary + next] =
            tables_.log_probability(source, word, static_cast<std::int32_t>(next));
      const Index m = tables_.lengths[static_cast<std::size_t>(source)];
      for (Index j = 0; attention_ && j < m; ++j)
        step.weights.data()[row * widest_ + j] = static_cast<Real>(
            tables_.weights[static_cast<std::size_t>(source)][static_cast<std::size_t>(word * m + j)]);
    }
    return step;
  }
  void select(const Ids& chosen) override {
    std::vector<Index> sources;
    for (const std::int32_t row : chosen.values()) sources.push_back(sources_.at(static_cast<std::size_t>(row)));
    sources_ = sources;
  }
  Index rows() const override { return static_cast<Index>(sources_.size()); }

  std::vector<Index> steps;  // how many rows each step had

 private:
  const WordTables& tables_;
  bool attention_;
  std::vector<Index> sources_;
  Index widest_ = 0;
};

}  // namespace heed::test
