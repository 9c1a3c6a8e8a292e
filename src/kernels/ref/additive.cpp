#include "heed/kernels/ref/additive.h"

#include <cmath>
#include <vector>

namespace heed::kernels::ref {
namespace {

Index length_of(const AdditiveSize& size, const AdditiveInputs& in, Index pair) {
  return in.lengths ? in.lengths[pair / size.heads] : size.keys;
}

double tanh_of(const AdditiveSize& size, const AdditiveInputs& in, Index query, Index key, Index c) {
  double sum = static_cast<double>(in.q[query * size.width + c]) + in.k[key * size.width + c];
  for (Index t = 0; t < size.features; ++t)
    sum += static_cast<double>(in.f[key * size.features + t]) * in.u[t * size.width + c];
  return std::tanh(sum);
}

// df and dU from the keys' slopes, [pairs, keys, width].
void feature_gradients(const AdditiveSize& size, const AdditiveInputs& in, const std::vector<double>& slopes,
                       const AdditiveGradients& out) {
  for (Index t = 0; t < size.features; ++t) {
    for (Index key = 0; key < size.pairs() * size.keys; ++key) {
      double df = 0;
      for (Index c = 0; c < size.width; ++c)
        df += slopes[static_cast<std::size_t>(key * size.width + c)] * in.u[t * size.width + c];
      out.df[key * size.features + t] = static_cast<Real>(df);
    }
    for (Index c = 0; c < size.width; ++c) {
      double du = 0;
      for (Index pair = 0; pair < size.pairs(); ++pair) {
        double du_pair = 0;
        for (Index key = pair * size.keys; key < pair * size.keys + length_of(size, in, pair); ++key)
          du_pair += slopes[static_cast<std::size_t>(key * size.width + c)] * in.f[key * size.features + t];
        out.du_each[(pair * size.features + t) * size.width + c] = static_cast<Real>(du_pair);
        du += du_pair;
      }
      out.du[t * size.width + c] = static_cast<Real>(du);
    }
  }
}

}  // namespace

void additive_scores(const AdditiveSize& size, const AdditiveInputs& in, Real* e) {
  for (Index pair = 0; pair < size.pairs(); ++pair)
    for (Index i = 0; i < size.queries; ++i)
      for (Index j = 0; j < size.keys; ++j) {
        const Index query = pair * size.queries + i, key = pair * size.keys + j;
        double total = 0;
        if (j < length_of(size, in, pair))
          for (Index c = 0; c < size.width; ++c) total += in.v[c] * tanh_of(size, in, query, key, c);
        e[query * size.keys + j] = static_cast<Real>(total);
      }
}

void additive_scores_backward(const AdditiveSize& size, const AdditiveInputs& in, const Real* de,
                              const AdditiveGradients& out) {
  std::vector<double> slopes(static_cast<std::size_t>(size.pairs() * size.keys * size.width));
  for (Index c = 0; c < size.width; ++c) {
    double dv = 0;
    for (Index pair = 0; pair < size.pairs(); ++pair) {
      double dv_pair = 0;
      const auto slope = [&](Index j) -> double& {
        return slopes[static_cast<std::size_t>((pair * size.keys + j) * size.width + c)];
      };
      for (Index i = 0; i < size.queries; ++i) {
        const Index query = pair * size.queries + i;
        double dq = 0;
        for (Index j = 0; j < length_of(size, in, pair); ++j) {
          const double t = tanh_of(size, in, query, pair * size.keys + j, c), factor = de[query * size.keys + j];
          const double s = factor * in.v[c] * (1 - t * t);
          dq += s;
          slope(j) += s;
          dv_pair += factor * t;
        }
        out.dq[query * size.width + c] = static_cast<Real>(dq);
      }
      for (Index j = 0; j < size.keys; ++j) {
        Real& sum = out.dk[(pair * size.keys + j) * size.width + c];
        sum = static_cast<Real>((out.adds ? static_cast<double>(sum) : 0) + slope(j));
      }
      out.dv_each[pair * size.width + c] = static_cast<Real>(dv_pair);
      dv += dv_pair;
    }
    out.dv[c] = static_cast<Real>(dv);
  }
  feature_gradients(size, in, slopes, out);
}

}  // namespace heed::kernels::ref
