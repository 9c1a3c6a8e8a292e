#pragma once

#include "heed/autograd/var.h"

namespace heed {

// Arithmetic with broadcasting: axes are matched from the last; a size of 1 is repeated.
Var add(const Var& a, const Var& b);
Var subtract(const Var& a, const Var& b);
Var multiply(const Var& a, const Var& b);
Var divide(const Var& a, const Var& b);
inline Var operator+(const Var& a, const Var& b) { return add(a, b); }
inline Var operator-(const Var& a, const Var& b) { return subtract(a, b); }
inline Var operator*(const Var& a, const Var& b) { return multiply(a, b); }
inline Var operator/(const Var& a, const Var& b) { return divide(a, b); }

// factor · x.
Var scale(const Var& x, Real factor);
inline Var operator*(Real factor, const Var& x) { return scale(x, factor); }

Var negate(const Var& x);
Var tanh(const Var& x);
Var sigmoid(const Var& x);
Var relu(const Var& x);
// min(max(x, 0), 6), Krizhevsky 2010.
Var relu6(const Var& x);
// x/2 (1 + tanh(√(2/π)(x + 0.044715 x³))), Hendrycks & Gimpel 2016.
Var gelu(const Var& x);
Var exp(const Var& x);
Var log(const Var& x);
Var sqrt(const Var& x);
Var square(const Var& x);

// The largest of each group of `pieces` neighbours of the last axis (Goodfellow et al. 2013):
// [..., n·pieces] → [..., n].
Var maxout(const Var& x, Index pieces = 2);
// a ∘ σ(b) for x = [a; b] on the last axis (Dauphin et al. 2017): [..., 2n] → [..., n].
Var glu(const Var& x);

// x forward, factor · dy backward.
Var scale_gradient(const Var& x, Real factor);

}  // namespace heed
