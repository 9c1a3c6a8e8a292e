#include "heed/kernels/ref/additive.h"

#include <cmath>
#include <vector>

namespace heed::kernels::ref {
namespace {

Index length_of(const AdditiveSize& size, const AdditiveInputs& in, Index pair) {
  return in.lengths ? in.lengths[pair / size.heads] : size.keys;
}

double tanh_of(const AdditiveSize& size, const AdditiveInputs& in, Index query, Index key, Index c) {
  return std::tanh(static_cast<double>(in.q[query * size.width + c]) + in.k[key * size.width + c]);
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
  for (Index c = 0; c < size.width; ++c) {
    double dv = 0;
    for (Index pair = 0; pair < size.pairs(); ++pair) {
      double dv_pair = 0;
      std::vector<double> dk(static_cast<std::size_t>(size.keys));
      for (Index i = 0; i < size.queries; ++i) {
        const Index query = pair * size.queries + i;
        double dq = 0;
        for (Index j = 0; j < length_of(size, in, pair); ++j) {
          const double t = tanh_of(size, in, query, pair * size.keys + j, c), factor = de[query * size.keys + j];
          const double s = factor * in.v[c] * (1 - t * t);
          dq += s;
          dk[static_cast<std::size_t>(j)] += s;
          dv_pair += factor * t;
        }
        out.dq[query * size.width + c] = static_cast<Real>(dq);
      }
      for (Index j = 0; j < size.keys; ++j)
        out.dk[(pair * size.keys + j) * size.width + c] = static_cast<Real>(dk[static_cast<std::size_t>(j)]);
      out.dv_each[pair * size.width + c] = static_cast<Real>(dv_pair);
      dv += dv_pair;
    }
    out.dv[c] = static_cast<Real>(dv);
  }
}

}  // namespace heed::kernels::ref
