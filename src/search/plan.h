#pragma once

#include <cstdint>
#include <vector>

#include "heed/kernels/softmax.h"
#include "heed/search/history.h"
#include "heed/search/search.h"

namespace heed {

// The next words of all rows:  log p(w | row) = of(row)[w] - log_sum(row).
class NextWords {
 public:
  explicit NextWords(const Decoding::Step& step)
      : words_(step.words ? step.words.contiguous() : Tensor()),
        normalised_(step.normalised),
        likeliest_(step.likeliest) {}
  // The likeliest word of a row, of a decoding that was asked for no more; -1 where it gives all scores.
  std::int32_t likeliest(Index row) const { return likeliest_ ? likeliest_.data()[row] : -1; }
  Index vocabulary() const { return words_ ? words_.size(1) : 1; }
  const Real* of(Index row) const { return words_.data() + row * vocabulary(); }
  // Best asked for just before the row is looked through: both read all of it.
  double log_sum(Index row) const {
    return normalised_ ? 0 : static_cast<double>(kernels::log_sum_exp(vocabulary(), of(row)));
  }

 private:
  Tensor words_;
  bool normalised_;
  Ids likeliest_;
};

// What all searches share: checked options, the bounds of each source and the making of hypotheses. `who` leads the
// errors.
class SearchPlan {
 public:
  SearchPlan(const char* who, const Decoding& decoding, const Ids& lengths, const SearchOptions& options);

  const char* who() const { return who_; }
  const SearchOptions& options() const { return options_; }
  Index sources() const { return static_cast<Index>(lengths_.size()); }
  // The most words before the end.
  Index longest(Index source) const { return longest_[static_cast<std::size_t>(source)]; }
  // The word that must come at position t: the prefix's, or the end at the longest length; -1: any word may come.
  std::int32_t forced(Index source, Index t) const;
  // Whether any word may come at any place, as far as the plan knows.
  bool unconstrained() const { return options_.unconstrained(); }
  // What may follow the words of a source's hypothesis.
  AllowsNext allowed_after(Index source, std::span<const std::int32_t> words) const;
  // One step of the decoding after the rows' previous words. Shapes are checked, the weights go to the history.
  NextWords step(Decoding& decoding, const std::vector<std::int32_t>& previous, SearchHistory& history) const;

  // Of a hypothesis of `length` words, the end included, whose end is an entry of the history.
  double score(const SearchHistory& history, std::int32_t end, Index source, Index length,
               double log_probability) const;
  Hypothesis hypothesis(const SearchHistory& history, std::int32_t end, Index source, double log_probability) const;

  // Whether steps are shown to anybody.
  bool watched() const { return static_cast<bool>(options_.observer); }
  // For the observer: a hypothesis of `length` words whose last is entry `last`, that stood at place `from` a step ago.
  SearchStep::Alive alive(const SearchHistory& history, std::int32_t last, Index from, Index source, Index length,
                          double log_probability) const;

 private:
  const char* who_;
  const SearchOptions& options_;
  std::vector<Index> lengths_, longest_;
  Index widest_ = 0;                  // the longest source
  std::int32_t largest_forced_ = -1;  // word of a prefix
};

// Hands the chosen rows to the decoding, unless they are all its rows in their order.
void select_if_changed(Decoding& decoding, const std::vector<std::int32_t>& rows);

}  // namespace heed
