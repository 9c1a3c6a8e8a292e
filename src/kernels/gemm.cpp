#include "heed/kernels/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <utility>

#include "heed/base/one_thread.h"
#include "heed/base/signal_stack.h"
#include "heed/base/threads.h"
#include "heed/kernels/few_rows.h"
#include "heed/kernels/ref/gemm.h"
#include "heed/kernels/split_product.h"

namespace heed::kernels {

#ifndef HEED_DOUBLE
namespace {

// Elements of a matrix that outweigh a thread's waking, where few rows are multiplied by it.
constexpr Index kReadOfThread = Index{1} << 18;
constexpr Index kBlock = 64;  // rows or columns that are never cut over threads

// Up to so many rows, such as the hypotheses of one sentence or its words, or the sentences of a batch, our own kernels
// are as fast as oneDNN, which packs B for every product and whose first writes code for some 30 ms (decision 19).
constexpr Index kFewRows = 80, kFewRowsTransposed = 24;
// From the latter up to so many, where the sums are long, a product by a transposed matrix is one of some rows.
constexpr Index kSomeRows = 64, kDepthOfSomeRows = 512;

// Numbers of A that the second cache keeps from one tile of columns to the next, and rows that are too few to be cut.
constexpr Index kNumbersKept = Index{1} << 17, kRowsKept = 96;

using Own = decltype(&few_rows);
void own_product(Own kernel, Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  const Index grain = std::min(kReadOfThread, kWorkOfThread / m) / (kBlock * k);
  const Index rows = std::max(kRowsKept, kNumbersKept / k);
  parallel_for((n + kBlock - 1) / kBlock, 1 + grain, [&](Index begin, Index end) {
    for (Index i = 0; i < m; i += rows)
      kernel(begin * kBlock, std::min(n, end * kBlock), std::min(rows, m - i), k, alpha,
             {a.data + i * a.stride, a.stride}, b, beta, c + i * ldc, ldc);
  });
}

// oneDNN's product on the calling thread alone.
void product_of_one_thread(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  const OneThread alone;
  use_signal_stack();
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                                          a.stride, b.data, b.stride, beta, c, ldc);
  if (status != dnnl_success) ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
}

// AMX's product or oneDNN's, its longer side cut over threads. Which it is does not depend on the cut. oneDNN's own
// threads would wait for each other by spinning, and on a busy machine for as long as another process keeps one of them
// from its core (decision 14).
void product(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  const bool both_transposed = a.transposed && b.transposed;
  const auto of_one_thread = !both_transposed && takes_split(m, n, k) ? split_product : product_of_one_thread;
  const bool columns = n >= m;
  const Index length = columns ? n : m, blocks = std::max<Index>(1, length / kBlock);  // the last may be longer
  const Index block_work = kBlock * (columns ? m : n) * k;
  parallel_for(blocks, 1 + kWorkOfThread / block_work, [&](Index begin, Index end) {
    const Index first = begin * kBlock, count = (end == blocks ? length : end * kBlock) - first;
    if (columns) {
      const Matrix part{b.data + first * (b.transposed ? b.stride : 1), b.stride, b.transposed};
      of_one_thread(m, count, k, alpha, a, part, beta, c + first, ldc);
    } else {
      const Matrix part{a.data + first * (a.transposed ? 1 : a.stride), a.stride, a.transposed};
      of_one_thread(count, n, k, alpha, part, b, beta, c + first * ldc, ldc);
    }
  });
}

}  // namespace
#endif

namespace {
thread_local bool rows_are_alone = false;
}
bool rows_alone() { return rows_are_alone; }
RowsAlone::RowsAlone(bool alone) : before_(std::exchange(rows_are_alone, alone)) {}
RowsAlone::~RowsAlone() { rows_are_alone = before_; }

void gemm(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  if (m == 0 || n == 0) return;
#ifdef HEED_DOUBLE
  ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
#else
  if (k == 0) return ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);  // oneDNN leaves C as it is
  if (!a.transposed && (rows_are_alone || m <= (b.transposed ? kFewRowsTransposed : kFewRows)))
    return own_product(b.transposed ? few_rows_transposed : few_rows, m, n, k, alpha, a, b, beta, c, ldc);
  if (!a.transposed && b.transposed && m <= kSomeRows && k >= kDepthOfSomeRows)
    return own_product(some_rows_transposed, m, n, k, alpha, a, b, beta, c, ldc);
  product(m, n, k, alpha, a, b, beta, c, ldc);
#endif
}

#ifdef HEED_DOUBLE
// The scalar twin multiplies by a copy.
Index packed_size(Index n, Index k) { return n * k; }
void pack(Index n, Index k, Matrix b, Real* packed) {
  for (Index p = 0; p < k; ++p)
    for (Index j = 0; j < n; ++j)
      packed[p * n + j] = b.transposed ? b.data[j * b.stride + p] : b.data[p * b.stride + j];
}
bool takes_packed(Index) { return true; }
void gemm_packed(Index m, Index n, Index k, const Real* a, Index lda, const Real* packed, Real beta, Real* c,
                 Index ldc) {
  ref::gemm(m, n, k, 1, {a, lda}, {packed, n}, beta, c, ldc);
}
#else
Index packed_size(Index n, Index k) { return packed_columns(n) * k; }
void pack(Index n, Index k, Matrix b, Real* packed) { pack_tiles(n, k, b, packed); }
bool takes_packed(Index m) { return rows_are_alone || m <= kFewRows; }
void gemm_packed(Index m, Index n, Index k, const Real* a, Index lda, const Real* packed, Real beta, Real* c,
                 Index ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) return ref::gemm(m, n, k, 1, {a, lda}, {packed, n}, beta, c, ldc);
  const Index tiles = tiles_of(n);
  const Index grain = std::min(kReadOfThread, kWorkOfThread / m) * tiles / (n * k);
  parallel_for(tiles, 1 + grain,
               [=](Index begin, Index end) { few_rows_packed(begin, end, m, n, k, a, lda, packed, beta, c, ldc); });
}
#endif

void gemm_batch(Index batch, Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc,
                BatchOffsets offsets) {
  // One product a thread is better than all threads on one; below some ten thousand multiplications a second thread
  // does not pay.
  const Index work = std::max<Index>(1, m * n * k);
  parallel_for(batch, std::max<Index>(1, 65536 / work), [&, alone = rows_are_alone](Index begin, Index end) {
    const RowsAlone as_before(alone);  // on this thread, which may be another
    for (Index i = begin; i < end; ++i)
      gemm(m, n, k, alpha, {a.data + offsets.a[i], a.stride, a.transposed},
           {b.data + offsets.b[i], b.stride, b.transposed}, beta, c + offsets.c[i], ldc);
  });
}

}  // namespace heed::kernels
