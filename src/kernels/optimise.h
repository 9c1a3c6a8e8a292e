#pragma once

#include "heed/base/real.h"

// Optimiser updates, each in one pass over memory. The formulas and the place of every ε are those of torch.optim.
//
// Shapes: all arrays hold n numbers; none overlaps another. Error: a few roundings of Real a number.
// A null gradient stands for all zeros: with it the rows that a sparse gradient does not touch are updated exactly as
// the dense gradient would, without building it. In all equations below
//   g = gradient_scale · gradient + λ x     (λ = weight_decay; L2, part of the loss), or
//   g = gradient_scale · gradient, x ← (1 − η λ) x first     (decoupled: Loshchilov, Hutter, "Decoupled weight decay
//                                                              regularization", ICLR 2019)
// with η = rate and x = value. The scale is where gradient clipping happens: it costs no pass of its own.

namespace heed::kernels {

struct Update {
  double rate;
  double gradient_scale = 1;
  double weight_decay = 0;
  bool decoupled = false;
};

// x ← x − η g  (Robbins, Monro 1951).
void sgd(Index n, const Update& update, const Real* gradient, Real* value);

// v ← μ v + g,  x ← x − η v  (Polyak 1964), or with Nesterov's look-ahead (Nesterov 1983; in this form Sutskever,
// Martens, Dahl, Hinton, ICML 2013)  x ← x − η (g + μ v).
struct MomentumStep {
  Update update;
  double momentum;
  bool nesterov;
};
void momentum(Index n, const MomentumStep& step, const Real* gradient, Real* velocity, Real* value);

// s ← s + g²,  x ← x − η g / (√s + ε)  (Duchi, Hazan, Singer, JMLR 2011).
struct AdagradStep {
  Update update;
  double epsilon;
};
void adagrad(Index n, const AdagradStep& step, const Real* gradient, Real* squares, Real* value);

// s ← ρ s + (1 − ρ) g²,  δ = √(d + ε) / √(s + ε) · g,  d ← ρ d + (1 − ρ) δ²,  x ← x − η δ
// (Zeiler, "ADADELTA: an adaptive learning rate method", 2012; the paper has η = 1).
struct AdadeltaStep {
  Update update;
  double rho, epsilon;
};
void adadelta(Index n, const AdadeltaStep& step, const Real* gradient, Real* squares, Real* deltas, Real* value);

// s ← α s + (1 − α) g²,  u = g / (√s + ε)  (Tieleman, Hinton, Coursera lecture 6.5, 2012).
// Centred, if there is a mean (Graves, "Generating sequences with recurrent neural networks", 2013):
//   m ← α m + (1 − α) g,  u = g / (√(s − m²) + ε);  s − m² is not let below 0.
// x ← x − η u, or with momentum, if there is a velocity:  v ← μ v + u,  x ← x − η v.
struct RmspropStep {
  Update update;
  double alpha, epsilon, momentum;
};
struct RmspropState {
  Real* squares;
  Real* mean;      // or null
  Real* velocity;  // or null
};
void rmsprop(Index n, const RmspropStep& step, const Real* gradient, const RmspropState& state, Real* value);

// m ← β₁ m + (1 − β₁) g,  s ← β₂ s + (1 − β₂) g²,  x ← x − η/c₁ · m / (√s/√c₂ + ε),  cᵢ = 1 − βᵢᵗ at step t
// (Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015; AdamW with decoupled decay).
struct AdamStep {
  Update update;
  double beta1, beta2, epsilon;
  double correction1, correction2;  // c₁, c₂
};
void adam(Index n, const AdamStep& step, const Real* gradient, Real* first, Real* second, Real* value);

// average ← average + weight · (value − average): the exponential average with weight = 1 − decay
// (Polyak, Juditsky 1992 for averaging as such).
void average(Index n, double weight, const Real* value, Real* average);

}  // namespace heed::kernels
