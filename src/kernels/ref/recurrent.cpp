#include "heed/kernels/ref/recurrent.h"

#include <cmath>

namespace heed::kernels::ref {
namespace {

double gate_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double sigmoid_slope(double y) { return y * (1 - y); }
double tanh_slope(double y) { return 1 - y * y; }
double bias_at(const Real* bias, Index at) { return bias ? static_cast<double>(bias[at]) : 0.0; }
Real real(double x) { return static_cast<Real>(x); }

// How much of the state h' a gate z lets through; the candidate gets the rest.
double state_share(UpdateGate update, double z) { return update == UpdateGate::keeps_state ? z : 1 - z; }
double update_slope(UpdateGate update) { return update == UpdateGate::keeps_state ? 1 : -1; }

// One unit of one row: its gates stand `hidden` apart.
template <class Body>
void over_units(Index rows, Index hidden, Index gate_count, const Body& body) {
  for (Index row = 0; row < rows; ++row)
    for (Index unit = 0; unit < hidden; ++unit) body(unit, row * hidden + unit, row * gate_count * hidden + unit);
}

}  // namespace

void lstm_forward(Index rows, Index hidden, const Real* bias, const Real* cell_before, Real* gates, Real* state,
                  Real* cell) {
  over_units(rows, hidden, 4, [=](Index unit, Index at, Index gate) {
    const double i = gate_sigmoid(gates[gate] + bias_at(bias, unit));
    const double f = gate_sigmoid(gates[gate + hidden] + bias_at(bias, unit + hidden));
    const double g = std::tanh(gates[gate + 2 * hidden] + bias_at(bias, unit + 2 * hidden));
    const double o = gate_sigmoid(gates[gate + 3 * hidden] + bias_at(bias, unit + 3 * hidden));
    const double c = f * cell_before[at] + i * g;
    gates[gate] = real(i), gates[gate + hidden] = real(f);
    gates[gate + 2 * hidden] = real(g), gates[gate + 3 * hidden] = real(o);
    cell[at] = real(c), state[at] = real(o * std::tanh(c));
  });
}

void lstm_backward(Index rows, Index hidden, const Real* dstate, const Real* cell_before, Real* gates, Real* dcell) {
  over_units(rows, hidden, 4, [=](Index, Index at, Index gate) {
    const double i = gates[gate], f = gates[gate + hidden], g = gates[gate + 2 * hidden], o = gates[gate + 3 * hidden];
    const double tanh_c = std::tanh(f * cell_before[at] + i * g);
    const double dc = dcell[at] + dstate[at] * o * tanh_slope(tanh_c);
    gates[gate] = real(dc * g * sigmoid_slope(i));
    gates[gate + hidden] = real(dc * cell_before[at] * sigmoid_slope(f));
    gates[gate + 2 * hidden] = real(dc * i * tanh_slope(g));
    gates[gate + 3 * hidden] = real(dstate[at] * tanh_c * sigmoid_slope(o));
    dcell[at] = real(dc * f);
  });
}

void gru_after_forward(GruShape shape, GruBiases biases, const Real* recurrent, const Real* before, Real* gates,
                       Real* inner, Real* state) {
  const Index hidden = shape.hidden;
  over_units(shape.rows, hidden, 3, [=](Index unit, Index at, Index gate) {
    const auto sum = [&](Index part) { return gates[gate + part] + bias_at(biases.gates, unit + part); };
    const double r = gate_sigmoid(sum(0) + recurrent[gate]);
    const double z = gate_sigmoid(sum(hidden) + recurrent[gate + hidden]);
    const double u = recurrent[gate + 2 * hidden] + bias_at(biases.candidate, unit);
    const double n = std::tanh(sum(2 * hidden) + r * u);
    const double share = state_share(shape.update, z);
    gates[gate] = real(r), gates[gate + hidden] = real(z), gates[gate + 2 * hidden] = real(n);
    inner[at] = real(u), state[at] = real(share * before[at] + (1 - share) * n);
  });
}

void gru_after_backward(GruShape shape, const Real* before, Real* gates, Real* inner, Real* dstate) {
  const Index hidden = shape.hidden;
  over_units(shape.rows, hidden, 3, [=](Index, Index at, Index gate) {
    const double r = gates[gate], z = gates[gate + hidden], n = gates[gate + 2 * hidden], dh = dstate[at];
    const double share = state_share(shape.update, z);
    const double dn = dh * (1 - share) * tanh_slope(n);
    gates[gate] = real(dn * inner[at] * sigmoid_slope(r));
    gates[gate + hidden] = real(update_slope(shape.update) * dh * (before[at] - n) * sigmoid_slope(z));
    gates[gate + 2 * hidden] = real(dn * r);
    inner[at] = real(dn), dstate[at] = real(dh * share);
  });
}

void gru_before_gates(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* inner) {
  const Index hidden = shape.hidden;
  over_units(shape.rows, hidden, 3, [=](Index unit, Index at, Index gate) {
    const double r = gate_sigmoid(gates[gate] + bias_at(bias, unit));
    gates[gate] = real(r);
    gates[gate + hidden] = real(gate_sigmoid(gates[gate + hidden] + bias_at(bias, unit + hidden)));
    inner[at] = real(r * before[at]);
  });
}

void gru_before_state(GruShape shape, const Real* bias, const Real* before, Real* gates, Real* state) {
  const Index hidden = shape.hidden;
  over_units(shape.rows, hidden, 3, [=](Index unit, Index at, Index gate) {
    const double n = std::tanh(gates[gate + 2 * hidden] + bias_at(bias, unit + 2 * hidden));
    const double share = state_share(shape.update, gates[gate + hidden]);
    gates[gate + 2 * hidden] = real(n), state[at] = real(share * before[at] + (1 - share) * n);
  });
}

void gru_before_backward_state(GruShape shape, const Real* before, Real* gates, Real* dstate) {
  const Index hidden = shape.hidden;
  over_units(shape.rows, hidden, 3, [=](Index, Index at, Index gate) {
    const double z = gates[gate + hidden], n = gates[gate + 2 * hidden], dh = dstate[at];
    const double share = state_share(shape.update, z);
    gates[gate + hidden] = real(update_slope(shape.update) * dh * (before[at] - n) * sigmoid_slope(z));
    gates[gate + 2 * hidden] = real(dh * (1 - share) * tanh_slope(n));
    dstate[at] = real(dh * share);
  });
}

void gru_before_backward_gates(GruShape shape, const Real* before, const Real* dinner, Real* gates, Real* dstate) {
  const Index hidden = shape.hidden;
  over_units(shape.rows, hidden, 3, [=](Index, Index at, Index gate) {
    const double r = gates[gate];
    gates[gate] = real(static_cast<double>(dinner[at]) * before[at] * sigmoid_slope(r));
    dstate[at] = real(dstate[at] + r * dinner[at]);
  });
}

void transpose(Index rows, Index columns, const Real* from, Real* to) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}

}  // namespace heed::kernels::ref
