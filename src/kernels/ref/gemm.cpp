#include "heed/kernels/ref/gemm.h"

namespace heed::kernels::ref {

void gemm(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index p = 0; p < k; ++p) {
        const Real x = a.transposed ? a.data[p * a.stride + i] : a.data[i * a.stride + p];
        const Real y = b.transposed ? b.data[j * b.stride + p] : b.data[p * b.stride + j];
        sum += static_cast<double>(x) * static_cast<double>(y);
      }
      Real& out = c[i * ldc + j];
      out = static_cast<Real>(static_cast<double>(alpha) * sum +
                              (beta == 0 ? 0.0 : static_cast<double>(beta) * static_cast<double>(out)));
    }
  }
}

}  // namespace heed::kernels::ref
