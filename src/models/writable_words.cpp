#include "heed/models/writable_words.h"

#include <limits>

#include "heed/kernels/softmax.h"

namespace heed {

Ids WritableWords::words_at(const Ids& places) const {
  if (!words_) return places;
  Ids words = places.copy();
  for (std::int32_t& each : words.values()) each = words_.data()[each];
  return words;
}

Decoding::Step WritableWords::step_of(const StepScores& scores, const std::vector<Index>& sources) {
  const Index rows = static_cast<Index>(sources.size());
  if (words_ && !chosen_) chosen_ = scores.words.chosen(words_);
  const Var logits = (chosen_ ? scores.words.of(*chosen_) : scores.words).logits();
  Decoding::Step step{logits.value().reshape(Shape{rows, logits.size(-1)}),
                      scores.weights ? scores.weights.reshape(Shape{rows, scores.weights.size() / rows}) : Tensor()};
  if (scores.words.generates()) step.generates = scores.words.generates().value().reshape(Shape{rows});
  if (!words_) return step;
  // Each row's own words are summed as if there were no others: its numbers do not depend on the sources beside it.
  const Index count = words_.size();
  std::vector<Real> own(static_cast<std::size_t>(count));
  for (Index row = 0; row < rows; ++row) {
    const bool* const allowed = of_each_.data() + sources[static_cast<std::size_t>(row)] * count;
    Real* const words = step.words.data() + row * count;
    Index few = 0;
    for (Index i = 0; i < count; ++i) {
      own[static_cast<std::size_t>(few)] = words[i];
      few += allowed[i] ? 1 : 0;
    }
    const Real log_sum = kernels::log_sum_exp(few, own.data());
    for (Index i = 0; i < count; ++i)
      words[i] = allowed[i] ? words[i] - log_sum : -std::numeric_limits<Real>::infinity();
  }
  step.normalised = true;
  return step;
}

}  // namespace heed
