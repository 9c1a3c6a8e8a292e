#pragma once

#include "heed/base/real.h"

// Connectionist temporal classification, Graves, Fernández, Gomez, Schmidhuber 2006: the probability of labels y1..yn,
// whatever frames each of them takes, with blanks (∅) between them:
//   l = ∅ y1 ∅ y2 ... yn ∅                                      2n + 1 places
//   α_t(s) = log p_t(l_s) + log(e^α_{t-1}(s) + e^α_{t-1}(s-1) + e^α_{t-1}(s-2))
//   log P = log(e^α_T(2n) + e^α_T(2n-1)),  places counted from 0
// where the last term is there only if l_s is neither blank nor l_{s-2}. β is the same from the other end, without
// p_t, so that e^(α_t(s) + β_t(s)) / P is how likely place s is at frame t.

namespace heed::kernels {

struct CtcLabels {
  const std::int32_t* labels;  // [count]
  Index count;
  std::int32_t blank;

  Index places() const { return 2 * count + 1; }
  std::int32_t at(Index place) const { return place % 2 == 0 ? blank : labels[place / 2]; }
  // Whether a path may come to `place` from two places before it.
  bool may_skip(Index place) const { return place % 2 == 1 && place > 1 && at(place) != at(place - 2); }
};

// log P from log-probabilities p [frames, classes]; fills α [frames, places]. -infinity if there are too few frames.
// By the calling thread alone, as is the other.
double ctc_forward(Index frames, Index classes, const Real* p, const CtcLabels& target, double* alpha);
// The gradient of -log P with respect to the logits that p is the log-softmax of:
//   dz_t(k) = e^p_t(k) - Σ_{s: l_s = k} e^(α_t(s) + β_t(s)) / P
// `beta` has room for 2 · places numbers.
void ctc_backward(Index frames, Index classes, const Real* p, const CtcLabels& target, const double* alpha,
                  double log_probability, double* beta, Real* dz);

}  // namespace heed::kernels
