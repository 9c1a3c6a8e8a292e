#pragma once

#include "heed/autograd/var.h"

namespace heed {

// How likely the words written so far are by CTC, whatever follows them: Graves 2008, Supervised sequence labelling,
// section 7.5.3; beside attention, Watanabe et al. 2017, Hybrid CTC/attention architecture. For prefixes g and words c:
//   n_t(g), b_t(g): probability that the frames up to t are g, the last of them g's last word, or a blank
//   φ_t(g, c) = b_{t-1}(g) + n_{t-1}(g) [c is not the last word of g]
//   n_t(g·c) = (n_{t-1}(g·c) + φ_t(g, c)) p_t(c),  b_t(g·c) = (n_{t-1}(g·c) + b_{t-1}(g·c)) p_t(∅)
//   ψ(g·c) = Σ_t φ_t(g, c) p_t(c),  ψ(g·end) = n_T(g) + b_T(g)
// Since φ is the same for all c but one, the ψ of all words are one product of a row with a matrix. The blank is the
// begin symbol, which no output has.
class CtcPrefix {
 public:
  struct State {
    Var paths;  // [rows, m, 2]: log n_t and log b_t of the row's prefix
    Var total;  // [rows, 1]: log ψ of it
    Ids last;   // [rows]: its last word; the begin symbol of the empty prefix
    template <class Visitor>
    void each(Visitor&& visit) {
      visit(paths), visit(total), visit(last);
    }
  };
  // Of the frames' probabilities [rows, m, vocabulary], of which each row has `lengths` [rows].
  static State begin(const Tensor& frames, const Ids& lengths);
  // Reads each row's last word (the begin symbol at first) and gives log ψ(g·c) - log ψ(g) of every next word c,
  // [rows, vocabulary]; what the frames rule out is very low, not infinite, so that rows can be compared.
  static Tensor step(const Tensor& frames, const Ids& lengths, State& state, const Ids& previous);
};

}  // namespace heed
