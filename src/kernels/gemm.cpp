#include "heed/kernels/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

#include "heed/base/signal_stack.h"
#include "heed/base/threads.h"
#include "heed/kernels/ref/gemm.h"

namespace heed::kernels {

void gemm(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  if (m == 0 || n == 0) return;
#ifdef HEED_DOUBLE
  ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
#else
  if (k == 0) return ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);  // oneDNN leaves C as it is
  use_signal_stack();
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                                          a.stride, b.data, b.stride, beta, c, ldc);
  if (status != dnnl_success) ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
#endif
}

void gemm_batch(Index batch, Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc,
                BatchOffsets offsets) {
  // One product a thread is better than all threads on one; below some ten thousand multiplications a second thread
  // does not pay.
  const Index work = std::max<Index>(1, m * n * k);
  parallel_for(batch, std::max<Index>(1, 65536 / work), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      gemm(m, n, k, alpha, {a.data + offsets.a[i], a.stride, a.transposed},
           {b.data + offsets.b[i], b.stride, b.transposed}, beta, c + offsets.c[i], ldc);
  });
}

}  // namespace heed::kernels
