#include "heed/models/writable_words.h"

#include <algorithm>
#include <limits>

#include "heed/kernels/softmax.h"

namespace heed {

WritableWords::WritableWords(const Source& source) : words_(source.writable), screen_(source.screen) {
  if (!words_) return;
  const Mask& of_each = source.writable_each;
  const Index count = words_.size();
  own_.resize(static_cast<std::size_t>(of_each.size(0)));
  for (std::size_t sample = 0; sample < own_.size(); ++sample) {
    const bool* const allowed = of_each.data() + static_cast<Index>(sample) * count;
    for (Index i = 0; i < count; ++i)
      if (allowed[i]) own_[sample].push_back(i);
  }
}

Ids WritableWords::words_at(const Ids& places) const {
  if (!words_) return places;
  Ids words = places.copy();
  for (std::int32_t& each : words.values()) each = words_.data()[each];
  return words;
}

Decoding::Step WritableWords::step_of(const StepScores& scores, const std::vector<Index>& sources) {
  const Index rows = static_cast<Index>(sources.size());
  const Tensor weights = scores.weights ? scores.weights.reshape(Shape{rows, scores.weights.size() / rows}) : Tensor();
  if (screen_ && !words_)
    if (const Ids likeliest = scores.words.likeliest(*screen_))
      return {.words = {}, .weights = weights, .likeliest = likeliest};
  if (words_ && !chosen_) chosen_ = scores.words.chosen(words_);
  const Var logits = (chosen_ ? scores.words.of(*chosen_) : scores.words).logits();
  Decoding::Step step{logits.value().reshape(Shape{rows, logits.size(-1)}), weights};
  if (scores.words.generates()) step.generates = scores.words.generates().value().reshape(Shape{rows});
  if (!words_) return step;
  // Each row's own words are summed as if there were no others: its numbers do not depend on the sources beside it.
  const Index count = words_.size();
  std::vector<Real> some(static_cast<std::size_t>(count));
  for (Index row = 0; row < rows; ++row) {
    const std::vector<Index>& places = own_[static_cast<std::size_t>(sources[static_cast<std::size_t>(row)])];
    Real* const words = step.words.data() + row * count;
    for (std::size_t i = 0; i < places.size(); ++i) some[i] = words[places[i]];
    const Real log_sum = kernels::log_sum_exp(static_cast<Index>(places.size()), some.data());
    std::fill_n(words, count, -std::numeric_limits<Real>::infinity());
    for (std::size_t i = 0; i < places.size(); ++i) words[places[i]] = some[i] - log_sum;
  }
  step.normalised = true;
  return step;
}

}  // namespace heed
