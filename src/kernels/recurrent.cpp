#include "heed/kernels/recurrent.h"

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/recurrent.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// How a vector is read and written: whole, or the first units only.
struct Whole {
  HWY_INLINE V get(const Real* from) const { return load(from); }
  HWY_INLINE void put(V value, Real* to) const { store(value, to); }
};
struct Part {
  Index count;
  HWY_INLINE V get(const Real* from) const { return load_part(from, count); }
  HWY_INLINE void put(V value, Real* to) const { store_part(value, to, count); }
};

// body(row, unit, io) for every vector of units of every row.
template <class Body>
HWY_INLINE void over_units(Index begin, Index end, Index hidden, const Body& body) {
  for (Index row = begin; row < end; ++row) {
    Index unit = 0;
    for (const Index step = lanes(); unit + step <= hidden; unit += step) body(row, unit, Whole{});
    if (unit < hidden) body(row, unit, Part{hidden - unit});
  }
}

HWY_INLINE V plus(V x, const Real* bias, Index at, auto io) { return bias ? hn::Add(x, io.get(bias + at)) : x; }
// The slopes of σ and tanh from their values.
HWY_INLINE V sigmoid_slope(V y) { return hn::NegMulAdd(y, y, y); }
HWY_INLINE V tanh_slope(V y) { return hn::NegMulAdd(y, y, set(1)); }

void lstm_forward_rows(Index begin, Index end, Index hidden, const Real* bias, const Real* cell_before, Real* gates,
                       Real* state, Real* cell) {
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 4 * hidden + unit;
    const Index at = row * hidden + unit;
    const V i = sigmoid(plus(io.get(gate), bias, unit, io));
    const V f = sigmoid(plus(io.get(gate + hidden), bias, unit + hidden, io));
    const V g = tanh(plus(io.get(gate + 2 * hidden), bias, unit + 2 * hidden, io));
    const V o = sigmoid(plus(io.get(gate + 3 * hidden), bias, unit + 3 * hidden, io));
    const V c = hn::MulAdd(f, io.get(cell_before + at), hn::Mul(i, g));
    io.put(i, gate), io.put(f, gate + hidden), io.put(g, gate + 2 * hidden), io.put(o, gate + 3 * hidden);
    io.put(c, cell + at);
    io.put(hn::Mul(o, tanh(c)), state + at);
  });
}

void lstm_backward_rows(Index begin, Index end, Index hidden, const Real* dstate, const Real* cell_before, Real* gates,
                        Real* dcell) {
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 4 * hidden + unit;
    const Index at = row * hidden + unit;
    const V i = io.get(gate), f = io.get(gate + hidden), g = io.get(gate + 2 * hidden), o = io.get(gate + 3 * hidden);
    const V before = io.get(cell_before + at), dh = io.get(dstate + at);
    const V tanh_c = tanh(hn::MulAdd(f, before, hn::Mul(i, g)));
    const V dc = hn::MulAdd(hn::Mul(dh, o), tanh_slope(tanh_c), io.get(dcell + at));
    io.put(hn::Mul(hn::Mul(dc, g), sigmoid_slope(i)), gate);
    io.put(hn::Mul(hn::Mul(dc, before), sigmoid_slope(f)), gate + hidden);
    io.put(hn::Mul(hn::Mul(dc, i), tanh_slope(g)), gate + 2 * hidden);
    io.put(hn::Mul(hn::Mul(dh, tanh_c), sigmoid_slope(o)), gate + 3 * hidden);
    io.put(hn::Mul(dc, f), dcell + at);
  });
}

// How much of the state and of the candidate a gate z lets through.
struct Shares {
  V state, candidate;
};
HWY_INLINE Shares shares(UpdateGate update, V z) {
  const V rest = hn::Sub(set(1), z);
  return update == UpdateGate::keeps_state ? Shares{z, rest} : Shares{rest, z};
}
// dz from dh: the part that grows with z minus the other.
HWY_INLINE V update_gradient(UpdateGate update, V dh, V before, V n) {
  return hn::Mul(dh, update == UpdateGate::keeps_state ? hn::Sub(before, n) : hn::Sub(n, before));
}

void gru_after_forward_rows(Index begin, Index end, GruShape shape, GruBiases biases, const Real* recurrent,
                            const Real* before, Real* gates, Real* inner, Real* state) {
  const Index hidden = shape.hidden;
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 3 * hidden + unit;
    const Real* other = recurrent + row * 3 * hidden + unit;
    const Index at = row * hidden + unit;
    const V r = sigmoid(plus(hn::Add(io.get(gate), io.get(other)), biases.gates, unit, io));
    const V z = sigmoid(plus(hn::Add(io.get(gate + hidden), io.get(other + hidden)), biases.gates, unit + hidden, io));
    const V u = plus(io.get(other + 2 * hidden), biases.candidate, unit, io);
    const V n = tanh(hn::MulAdd(r, u, plus(io.get(gate + 2 * hidden), biases.gates, unit + 2 * hidden, io)));
    const Shares share = shares(shape.update, z);
    io.put(r, gate), io.put(z, gate + hidden), io.put(n, gate + 2 * hidden), io.put(u, inner + at);
    io.put(hn::MulAdd(share.state, io.get(before + at), hn::Mul(share.candidate, n)), state + at);
  });
}

void gru_after_backward_rows(Index begin, Index end, GruShape shape, const Real* before, Real* gates, Real* inner,
                             Real* dstate) {
  const Index hidden = shape.hidden;
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 3 * hidden + unit;
    const Index at = row * hidden + unit;
    const V r = io.get(gate), z = io.get(gate + hidden), n = io.get(gate + 2 * hidden);
    const V u = io.get(inner + at), h = io.get(before + at), dh = io.get(dstate + at);
    const Shares share = shares(shape.update, z);
    const V dn = hn::Mul(hn::Mul(dh, share.candidate), tanh_slope(n));
    io.put(hn::Mul(hn::Mul(dn, u), sigmoid_slope(r)), gate);
    io.put(hn::Mul(update_gradient(shape.update, dh, h, n), sigmoid_slope(z)), gate + hidden);
    io.put(hn::Mul(dn, r), gate + 2 * hidden);
    io.put(dn, inner + at);
    io.put(hn::Mul(dh, share.state), dstate + at);
  });
}

void gru_before_gates_rows(Index begin, Index end, GruShape shape, const Real* bias, const Real* before, Real* gates,
                           Real* inner) {
  const Index hidden = shape.hidden;
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 3 * hidden + unit;
    const Index at = row * hidden + unit;
    const V r = sigmoid(plus(io.get(gate), bias, unit, io));
    io.put(r, gate);
    io.put(sigmoid(plus(io.get(gate + hidden), bias, unit + hidden, io)), gate + hidden);
    io.put(hn::Mul(r, io.get(before + at)), inner + at);
  });
}

void gru_before_state_rows(Index begin, Index end, GruShape shape, const Real* bias, const Real* before, Real* gates,
                           Real* state) {
  const Index hidden = shape.hidden;
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 3 * hidden + unit;
    const Index at = row * hidden + unit;
    const V n = tanh(plus(io.get(gate + 2 * hidden), bias, unit + 2 * hidden, io));
    const Shares share = shares(shape.update, io.get(gate + hidden));
    io.put(n, gate + 2 * hidden);
    io.put(hn::MulAdd(share.state, io.get(before + at), hn::Mul(share.candidate, n)), state + at);
  });
}

void gru_before_backward_state_rows(Index begin, Index end, GruShape shape, const Real* before, Real* gates,
                                    Real* dstate) {
  const Index hidden = shape.hidden;
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 3 * hidden + unit;
    const Index at = row * hidden + unit;
    const V z = io.get(gate + hidden), n = io.get(gate + 2 * hidden), dh = io.get(dstate + at);
    const Shares share = shares(shape.update, z);
    io.put(hn::Mul(update_gradient(shape.update, dh, io.get(before + at), n), sigmoid_slope(z)), gate + hidden);
    io.put(hn::Mul(hn::Mul(dh, share.candidate), tanh_slope(n)), gate + 2 * hidden);
    io.put(hn::Mul(dh, share.state), dstate + at);
  });
}

void gru_before_backward_gates_rows(Index begin, Index end, GruShape shape, const Real* before, const Real* dinner,
                                    Real* gates, Real* dstate) {
  const Index hidden = shape.hidden;
  over_units(begin, end, hidden, [=](Index row, Index unit, auto io) HWY_ATTR {
    Real* gate = gates + row * 3 * hidden + unit;
    const Index at = row * hidden + unit;
    const V r = io.get(gate), d = io.get(dinner + at);
    io.put(hn::Mul(hn::Mul(d, io.get(before + at)), sigmoid_slope(r)), gate);
    io.put(hn::MulAdd(r, d, io.get(dstate + at)), dstate + at);
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

constexpr Index kGrain = 4096;  // units, of several activations each, that make a second thread worth waking

template <class Body>
void over_rows(Index rows, Index hidden, const Body& body) {
  parallel_for(rows, std::max<Index>(1, kGrain / std::max<Index>(hidden, 1)), body);
}

}  // namespace

HWY_EXPORT(lstm_forward_rows);
HWY_EXPORT(lstm_backward_rows);
HWY_EXPORT(gru_after_forward_rows);
HWY_EXPORT(gru_after_backward_rows);
HWY_EXPORT(gru_before_gates_rows);
HWY_EXPORT(gru_before_state_rows);
HWY_EXPORT(gru_before_backward_state_rows);
HWY_EXPORT(gru_before_backward_gates_rows);

void lstm_forward(Index rows, Index hidden, const Real* bias, const Real* cell_before, Real* gates, Real* state,
                  Real* cell) {
  over_rows(rows, hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(lstm_forward_rows)(begin, end, hidden, bias, cell_before, gates, state, cell);
  });
}

void lstm_backward(Index rows, Index hidden, const Real* dstate, const Real* cell_before, Real* gates, Real* dcell) {
  over_rows(rows, hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(lstm_backward_rows)(begin, end, hidden, dstate, cell_before, gates, dcell);
  });
}

void gru_after_forward(GruShape shape, GruBiases biases, const Real* recurrent, const Real* before, Real* gates,
                       Real* inner, Real* state) {
  over_rows(shape.rows, shape.hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gru_after_forward_rows)(begin, end, shape, biases, recurrent, before, gates, inner, state);
  });
}

void gru_after_backward(GruShape shape, const Real* before, Real* gates, Real* inner, Real* dstate) {
  over_rows(shape.rows, shape.hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gru_after_backward_rows)(begin, end, shape, before, gates, inner, dstate);
  });
}

void gru_before_gates(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* inner) {
  over_rows(shape.rows, shape.hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gru_before_gates_rows)(begin, end, shape, bias, before, gates, inner);
  });
}

void gru_before_state(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* state) {
  over_rows(shape.rows, shape.hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gru_before_state_rows)(begin, end, shape, bias, before, gates, state);
  });
}

void gru_before_backward_state(GruShape shape, const Real* before, Real* gates, Real* dstate) {
  over_rows(shape.rows, shape.hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gru_before_backward_state_rows)(begin, end, shape, before, gates, dstate);
  });
}

void gru_before_backward_gates(GruShape shape, const Real* before, const Real* dinner, Real* gates, Real* dstate) {
  over_rows(shape.rows, shape.hidden, [=](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gru_before_backward_gates_rows)(begin, end, shape, before, dinner, gates, dstate);
  });
}

void transpose(Index rows, Index columns, const Real* from, Real* to) {
  // In squares as wide as a cache line, so that every line is fetched once.
  constexpr Index kSide = 16;
  parallel_for((columns + kSide - 1) / kSide, 1 + kGrain / (kSide * (rows + 1)), [=](Index first, Index last) {
    for (Index left = first * kSide; left < std::min(columns, last * kSide); left += kSide)
      for (Index top = 0; top < rows; top += kSide)
        for (Index c = left; c < std::min(columns, left + kSide); ++c)
          for (Index r = top; r < std::min(rows, top + kSide); ++r) to[c * rows + r] = from[r * columns + c];
  });
}

}  // namespace heed::kernels
#endif
