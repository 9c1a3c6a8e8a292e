#include "heed/kernels/ref/norm.h"

#include <cmath>

namespace heed::kernels::ref {

void layer_norm(LayerNorm size, const Real* x, const Real* residual, const Real* gain, const Real* bias, Real* sum,
                Real* moments, Real* y) {
  const Index n = size.n;
  for (Index r = 0; r < size.rows; ++r) {
    if (residual)
      for (Index i = r * n; i < (r + 1) * n; ++i) sum[i] = x[i] + residual[i];
    const Real* z = (residual ? sum : x) + r * n;
    double mean = 0, variance = 0;
    for (Index i = 0; i < n; ++i) mean += static_cast<double>(z[i]) / static_cast<double>(n);
    for (Index i = 0; i < n; ++i) variance += (z[i] - mean) * (z[i] - mean) / static_cast<double>(n);
    const double scale = 1 / std::sqrt(variance + size.epsilon);
    moments[2 * r] = static_cast<Real>(mean);
    moments[2 * r + 1] = static_cast<Real>(scale);
    for (Index i = 0; i < n; ++i) y[r * n + i] = static_cast<Real>((z[i] - mean) * scale * gain[i] + bias[i]);
  }
}

// With ẑ = (z - mean) s and g = dy ∘ gain:  dz = s (g - mean(g) - ẑ mean(g ∘ ẑ)),  dgain = Σ dy ∘ ẑ,  dbias = Σ dy.
void layer_norm_backward(LayerNorm size, const Real* dy, const Real* z, const Real* moments, const Real* gain, Real* dz,
                         Real* partials) {
  const Index n = size.n;
  const auto normal = [&](Index r, Index i) {
    return (static_cast<double>(z[r * n + i]) - moments[2 * r]) * moments[2 * r + 1];
  };
  for (Index block = 0; block * kLayerNormBlock < size.rows; ++block) {
    for (Index i = 0; i < n; ++i) {
      double dgain = 0, dbias = 0;
      for (Index r = block * kLayerNormBlock; r < size.rows && r < (block + 1) * kLayerNormBlock; ++r) {
        dgain += dy[r * n + i] * normal(r, i);
        dbias += static_cast<double>(dy[r * n + i]);
      }
      partials[block * 2 * n + i] = static_cast<Real>(dgain);
      partials[block * 2 * n + n + i] = static_cast<Real>(dbias);
    }
  }
  for (Index r = 0; r < size.rows; ++r) {
    double mean_g = 0, mean_gz = 0;
    for (Index i = 0; i < n; ++i) {
      const double g = static_cast<double>(dy[r * n + i]) * static_cast<double>(gain[i]) / static_cast<double>(n);
      mean_g += g;
      mean_gz += g * normal(r, i);
    }
    for (Index i = 0; i < n; ++i) {
      const double g = static_cast<double>(dy[r * n + i]) * static_cast<double>(gain[i]);
      dz[r * n + i] = static_cast<Real>(moments[2 * r + 1] * (g - mean_g - normal(r, i) * mean_gz));
    }
  }
}

}  // namespace heed::kernels::ref
