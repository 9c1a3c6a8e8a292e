#include "heed/kernels/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

#include "heed/base/one_thread.h"
#include "heed/base/signal_stack.h"
#include "heed/base/threads.h"
#include "heed/kernels/ref/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Rows of B at a time: the sums stay in registers, of which x86 has 32 from AVX-512 on and 16 before.
constexpr Index kTile = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 2 : 4;

// C = alpha A Bᵀ + beta C for kRows rows of A and n of B, each element the dot product of two rows.
template <Index kRows>
void dots_of_rows(Index n, Index k, Real alpha, const Real* a, Index lda, const Real* b, Index ldb, Real beta, Real* c,
                  Index ldc) {
  for (Index first = 0; first < n; first += kTile) {
    const Index columns = std::min(kTile, n - first);
    const Real* rows[kTile];
    HWY_UNROLL(4)
    for (Index j = 0; j < kTile; ++j) rows[j] = b + (first + std::min(j, columns - 1)) * ldb;  // beyond: any row
    V sums[kRows * kTile];
    HWY_UNROLL(24)
    for (V& sum : sums) sum = set(0);
    const auto add = [&](const auto& read) HWY_ATTR {
      V right[kTile];
      HWY_UNROLL(4)
      for (Index j = 0; j < kTile; ++j) right[j] = read(rows[j]);
      HWY_UNROLL(6)
      for (Index i = 0; i < kRows; ++i) {
        const V left = read(a + i * lda);
        HWY_UNROLL(4)
        for (Index j = 0; j < kTile; ++j) sums[i * kTile + j] = hn::MulAdd(left, right[j], sums[i * kTile + j]);
      }
    };
    for_each_vector(
        k,
        [&](Index x) HWY_ATTR {
          // The rows after these are likely in another page, where the hardware does not look ahead.
          HWY_UNROLL(4)
          for (Index j = 0; j < kTile; ++j) hwy::Prefetch(rows[j] + kTile * ldb + x);
          add([x](const Real* row) HWY_ATTR { return load(row + x); });
        },
        [&](Index x, Index rest)
            HWY_ATTR { add([x, rest](const Real* row) HWY_ATTR { return load_part(row + x, rest); }); });
    HWY_UNROLL(6)
    for (Index i = 0; i < kRows; ++i) {
      HWY_UNROLL(4)
      for (Index j = 0; j < kTile; ++j) {
        const Real sum = alpha * sum_lanes(sums[i * kTile + j]);
        if (j < columns) c[i * ldc + first + j] = beta == 0 ? sum : sum + beta * c[i * ldc + first + j];
      }
    }
  }
}

// Columns [begin, end) of C = alpha A Bᵀ + beta C, m from 1 to 12.
void few_rows(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  constexpr decltype(&dots_of_rows<1>) kDots[] = {dots_of_rows<1>, dots_of_rows<2>, dots_of_rows<3>,
                                                  dots_of_rows<4>, dots_of_rows<5>, dots_of_rows<6>};
  constexpr Index kColumns = 64;  // rows of B that a second group of rows finds in cache
  const Index group = m <= 6 ? m : (m + 1) / 2;
  for (Index j = begin; j < end; j += kColumns)
    for (Index i = 0; i < m; i += group)
      kDots[std::min(group, m - i) - 1](std::min(kColumns, end - j), k, alpha, a.data + i * a.stride, a.stride,
                                        b.data + j * b.stride, b.stride, beta, c + i * ldc + j, ldc);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(few_rows);

#ifndef HEED_DOUBLE
namespace {

// oneDNN's product on the calling thread alone.
void product_of_one_thread(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  const OneThread alone;
  use_signal_stack();
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data,
                                          a.stride, b.data, b.stride, beta, c, ldc);
  if (status != dnnl_success) ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
}

// The same, its longer side cut over threads. oneDNN's own threads would wait for each other by spinning, and on a busy
// machine for as long as another process keeps one of them from its core (decision 14).
void product(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  constexpr Index kBlock = 64, kWorkOfThread = Index{1} << 21;  // multiplications that outweigh a thread's waking
  const bool columns = n >= m;
  const Index length = columns ? n : m, blocks = std::max<Index>(1, length / kBlock);  // the last may be longer
  const Index block_work = kBlock * (columns ? m : n) * k;
  parallel_for(blocks, 1 + kWorkOfThread / block_work, [&](Index begin, Index end) {
    const Index first = begin * kBlock, count = (end == blocks ? length : end * kBlock) - first;
    if (columns) {
      const Matrix part{b.data + first * (b.transposed ? b.stride : 1), b.stride, b.transposed};
      product_of_one_thread(m, count, k, alpha, a, part, beta, c + first, ldc);
    } else {
      const Matrix part{a.data + first * (a.transposed ? 1 : a.stride), a.stride, a.transposed};
      product_of_one_thread(count, n, k, alpha, part, b, beta, c + first * ldc, ldc);
    }
  });
}

}  // namespace
#endif

void gemm(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc) {
  if (m == 0 || n == 0) return;
#ifdef HEED_DOUBLE
  ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);
#else
  if (k == 0) return ref::gemm(m, n, k, alpha, a, b, beta, c, ldc);  // oneDNN leaves C as it is
  // Few rows, such as the hypotheses of one sentence, are as fast as B is read, and oneDNN reads a transposed B anew
  // for every three of them.
  if (!a.transposed && b.transposed && m >= 4 && m <= 12) {
    const Index grain = std::max<Index>(64, 262144 / k);  // a megabyte of B outweighs a thread's waking
    return parallel_for(n, grain, [&](Index begin, Index end) {
      HWY_DYNAMIC_DISPATCH(few_rows)(begin, end, m, k, alpha, a, b, beta, c, ldc);
    });
  }
  product(m, n, k, alpha, a, b, beta, c, ldc);
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
#endif
