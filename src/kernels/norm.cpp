#include "heed/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/norm.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

void layer_norm_rows(Index begin, Index end, LayerNorm size, const Real* x, const Real* residual, const Real* gain,
                     const Real* bias, Real* sum, Real* moments, Real* y) {
  const Index n = size.n;
  for (Index r = begin; r < end; ++r) {
    const Real* z = x + r * n;
    V total = set(0);
    if (residual) {
      Real* to = sum + r * n;
      const Real* other = residual + r * n;
      for_each_vector(
          n,
          [&](Index i) HWY_ATTR {
            const V v = hn::Add(load(z + i), load(other + i));
            total = hn::Add(total, v);
            store(v, to + i);
          },
          [&](Index i, Index rest) HWY_ATTR {
            const V v = hn::Add(load_part(z + i, rest), load_part(other + i, rest));
            total = hn::Add(total, v);
            store_part(v, to + i, rest);
          });
      z = to;
    } else {
      for_each_vector(
          n, [&](Index i) HWY_ATTR { total = hn::Add(total, load(z + i)); },
          [&](Index i, Index rest) HWY_ATTR { total = hn::Add(total, load_part(z + i, rest)); });
    }
    const Real mean = sum_lanes(total) / static_cast<Real>(n);
    // The second pass over the row is in cache and avoids the cancellation of E[z²] - E[z]².
    const V m = hn::Set(D(), mean);
    V squares = set(0);
    for_each_vector(
        n,
        [&](Index i) HWY_ATTR {
          const V d = hn::Sub(load(z + i), m);
          squares = hn::MulAdd(d, d, squares);
        },
        [&](Index i, Index rest) HWY_ATTR {
          const M first = hn::FirstN(D(), static_cast<size_t>(rest));
          const V d = hn::IfThenElseZero(first, hn::Sub(load_part(z + i, rest), m));
          squares = hn::MulAdd(d, d, squares);
        });
    const Real scale = Real{1} / std::sqrt(sum_lanes(squares) / static_cast<Real>(n) + size.epsilon);
    moments[2 * r] = mean;
    moments[2 * r + 1] = scale;
    const V s = hn::Set(D(), scale);
    Real* to = y + r * n;
    for_each_vector(
        n,
        [&](Index i) HWY_ATTR {
          const V normal = hn::Mul(hn::Sub(load(z + i), m), s);
          store(hn::MulAdd(normal, load(gain + i), load(bias + i)), to + i);
        },
        [&](Index i, Index rest) HWY_ATTR {
          const V normal = hn::Mul(hn::Sub(load_part(z + i, rest), m), s);
          store_part(hn::MulAdd(normal, load_part(gain + i, rest), load_part(bias + i, rest)), to + i, rest);
        });
  }
}

// With ẑ = (z - mean) s and g = dy ∘ gain:  dz = s (g - mean(g) - ẑ mean(g ∘ ẑ)).
void layer_norm_backward_rows(Index begin, Index end, LayerNorm size, const Real* dy, const Real* z,
                              const Real* moments, const Real* gain, Real* dz, Real* partial) {
  const Index n = size.n;
  Real *dgain = partial, *dbias = partial + n;
  std::fill_n(partial, 2 * n, Real{0});
  for (Index r = begin; r < end; ++r) {
    const Real *d = dy + r * n, *row = z + r * n;
    Real* to = dz + r * n;
    const V m = hn::Set(D(), moments[2 * r]), s = hn::Set(D(), moments[2 * r + 1]);
    V sum_g = set(0), sum_gz = set(0);
    for_each_vector(
        n,
        [&](Index i) HWY_ATTR {
          const V dv = load(d + i), normal = hn::Mul(hn::Sub(load(row + i), m), s), g = hn::Mul(dv, load(gain + i));
          sum_g = hn::Add(sum_g, g);
          sum_gz = hn::MulAdd(g, normal, sum_gz);
          store(hn::MulAdd(dv, normal, load(dgain + i)), dgain + i);
          store(hn::Add(load(dbias + i), dv), dbias + i);
        },
        [&](Index i, Index rest) HWY_ATTR {
          const V dv = load_part(d + i, rest), normal = hn::Mul(hn::Sub(load_part(row + i, rest), m), s),
                  g = hn::Mul(dv, load_part(gain + i, rest));
          sum_g = hn::Add(sum_g, g);
          sum_gz = hn::MulAdd(g, normal, sum_gz);
          store_part(hn::MulAdd(dv, normal, load_part(dgain + i, rest)), dgain + i, rest);
          store_part(hn::Add(load_part(dbias + i, rest), dv), dbias + i, rest);
        });
    const V mean_g = hn::Set(D(), sum_lanes(sum_g) / static_cast<Real>(n));
    const V mean_gz = hn::Set(D(), sum_lanes(sum_gz) / static_cast<Real>(n));
    const auto piece = [&](V dv, V v, V gv) HWY_ATTR {
      const V normal = hn::Mul(hn::Sub(v, m), s);
      return hn::Mul(s, hn::Sub(hn::NegMulAdd(normal, mean_gz, hn::Mul(dv, gv)), mean_g));
    };
    for_each_vector(
        n, [&](Index i) HWY_ATTR { store(piece(load(d + i), load(row + i), load(gain + i)), to + i); },
        [&](Index i, Index rest) HWY_ATTR {
          store_part(piece(load_part(d + i, rest), load_part(row + i, rest), load_part(gain + i, rest)), to + i, rest);
        });
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(layer_norm_rows);
HWY_EXPORT(layer_norm_backward_rows);

void layer_norm(LayerNorm size, const Real* x, const Real* residual, const Real* gain, const Real* bias, Real* sum,
                Real* moments, Real* y) {
  parallel_for(size.rows, std::max<Index>(1, 16 * 1024 / std::max<Index>(size.n, 1)), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(layer_norm_rows)(begin, end, size, x, residual, gain, bias, sum, moments, y);
  });
}

void layer_norm_backward(LayerNorm size, const Real* dy, const Real* z, const Real* moments, const Real* gain, Real* dz,
                         Real* partials) {
  const Index blocks = (size.rows + kLayerNormBlock - 1) / kLayerNormBlock;
  parallel_for(blocks, 1, [&](Index first, Index last) {
    for (Index block = first; block < last; ++block) {
      const Index begin = block * kLayerNormBlock, end = std::min(size.rows, begin + kLayerNormBlock);
      HWY_DYNAMIC_DISPATCH(layer_norm_backward_rows)
      (begin, end, size, dy, z, moments, gain, dz, partials + block * 2 * size.n);
    }
  });
}

}  // namespace heed::kernels
#endif
