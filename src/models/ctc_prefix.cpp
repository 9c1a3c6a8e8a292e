#include "heed/models/ctc_prefix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/data/symbols.h"

namespace heed {
namespace {

// Where a logarithm would be infinite: of paths, and of what a word adds to them.
constexpr double kRuledOut = -1e30, kLeast = -1e4;

double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// One row: its frames' probabilities p [m, vocabulary], and its paths [m, 2].
struct Row {
  const Real* p;
  Real* paths;
  Index length, vocabulary;

  double word(Index t, std::int32_t c) const {
    return std::max(std::log(static_cast<double>(p[t * vocabulary + c])), kRuledOut);
  }
  double ending_in_word(Index t) const { return static_cast<double>(paths[2 * t]); }
  double ending_in_blank(Index t) const { return static_cast<double>(paths[2 * t + 1]); }
  double ending(Index t) const { return log_sum(ending_in_word(t), ending_in_blank(t)); }
  void put(Index t, double in_word, double in_blank) const {
    paths[2 * t] = static_cast<Real>(std::max(in_word, kRuledOut));
    paths[2 * t + 1] = static_cast<Real>(std::max(in_blank, kRuledOut));
  }
  // log φ at every frame, for words other than the last, or for that itself.
  std::vector<double> ready(bool empty, bool same) const {
    std::vector<double> phi;
    for (Index t = 0; t < length; ++t)
      phi.push_back(t == 0 ? (empty ? 0.0 : kRuledOut) : same ? ending_in_blank(t - 1) : ending(t - 1));
    return phi;
  }
  // The paths of the prefix continued with c.
  void go_on(const std::vector<double>& phi, std::int32_t c) const {
    double in_word = kRuledOut, in_blank = kRuledOut;
    for (Index t = 0; t < length; ++t) {
      const double blank = log_sum(in_word, in_blank) + word(t, kBegin);
      in_word = log_sum(in_word, phi[static_cast<std::size_t>(t)]) + word(t, c);
      in_blank = t == 0 ? kRuledOut : blank;
      put(t, in_word, in_blank);
    }
  }
  // log Σ_t φ_t p_t(c) of one word.
  double total(const std::vector<double>& phi, std::int32_t c) const {
    double sum = kRuledOut;
    for (Index t = 0; t < length; ++t) sum = log_sum(sum, phi[static_cast<std::size_t>(t)] + word(t, c));
    return sum;
  }
  // The same of all words.
  std::vector<double> totals(const std::vector<double>& phi) const {
    std::vector<double> sums(static_cast<std::size_t>(vocabulary), 0.0);
    if (phi.empty()) return std::vector<double>(sums.size(), kRuledOut);
    const double high = *std::max_element(phi.begin(), phi.end());
    for (Index t = 0; t < length; ++t) {
      const double share = phi[static_cast<std::size_t>(t)] - high;
      if (share < -80) continue;  // nothing of it is left beside the largest
      const double factor = std::exp(share);
      for (Index c = 0; c < vocabulary; ++c)
        sums[static_cast<std::size_t>(c)] += factor * static_cast<double>(p[t * vocabulary + c]);
    }
    for (double& sum : sums) sum = sum > 0 ? high + std::log(sum) : kRuledOut;
    return sums;
  }
};

}  // namespace

CtcPrefix::State CtcPrefix::begin(const Tensor& frames, const Ids& lengths) {
  const Index rows = frames.size(0), m = frames.size(1);
  Tensor paths(Shape{rows, m, 2}, Real{0});
  for (Index i = 0; i < rows; ++i) {
    const Row row{frames.data() + i * m * frames.size(2), paths.data() + i * m * 2, lengths.at({i}), frames.size(2)};
    double blanks = 0;
    for (Index t = 0; t < row.length; ++t) row.put(t, kRuledOut, blanks += row.word(t, kBegin));
  }
  return {Var(paths), Var(Tensor(Shape{rows, 1}, Real{0})), Ids(Shape{rows}, kBegin)};
}

Tensor CtcPrefix::step(const Tensor& frames, const Ids& lengths, State& state, const Ids& previous) {
  const Index rows = previous.size(), m = frames.size(1), vocabulary = frames.size(2);
  Tensor paths = state.paths.value().copy(), total = state.total.value().copy();
  Tensor result(Shape{rows, vocabulary});
  for (Index i = 0; i < rows; ++i) {
    const Row row{frames.data() + i * m * vocabulary, paths.data() + i * m * 2, lengths.at({i}), vocabulary};
    const std::int32_t read = previous.at({i}), last = state.last.at({i});
    if (read != kBegin) {
      const std::vector<double> phi = row.ready(last == kBegin, read == last);
      total.data()[i] = static_cast<Real>(row.total(phi, read));
      row.go_on(phi, read);
    }
    const bool empty = read == kBegin;
    std::vector<double> next = row.totals(row.ready(empty, false));
    if (!empty) next[static_cast<std::size_t>(read)] = row.total(row.ready(empty, true), read);
    next[kEnd] = row.length > 0 ? row.ending(row.length - 1) : 0;
    next[kBegin] = kRuledOut;
    for (Index c = 0; c < vocabulary; ++c)
      result.data()[i * vocabulary + c] =
          static_cast<Real>(std::max(next[static_cast<std::size_t>(c)] - static_cast<double>(total.data()[i]), kLeast));
  }
  state = {Var(paths), Var(total), previous.copy()};
  return result;
}

}  // namespace heed
