#pragma once

#include "heed/base/real.h"

namespace heed::kernels {

// C = alpha op(A) op(B) + beta C, row-major: op(A) is m × k, op(B) k × n, C m × n; lda, ldb, ldc are the distances
// of rows as stored. C overlaps neither A nor B. With beta = 0 C need not be initialised. Float runs on oneDNN,
// few rows on kernels of our own, many on AMX where there is one, double (gradient checks only) on the scalar twin.
struct Matrix {
  const Real* data;
  Index stride;
  bool transposed = false;
};
void gemm(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc);

// Whether the calling thread's products sum each row of C in one order, whatever rows stand beside it, where A is not
// transposed: then a row's result is that of a product of this row alone, bit for bit. Otherwise products of many rows
// are those of AMX or oneDNN, which are faster and whose order depends on the number of rows.
bool rows_alone();
// Says so while it lives.
class RowsAlone {
 public:
  explicit RowsAlone(bool alone);
  ~RowsAlone();
  RowsAlone(const RowsAlone&) = delete;
  RowsAlone& operator=(const RowsAlone&) = delete;

 private:
  bool before_;
};

constexpr Index kWorkOfThread = Index{1} << 21;  // multiplications that outweigh a thread's waking

// A matrix op(B) by which few rows are multiplied again and again, such as the states of every step: packed once, in
// the order in which these products read it. `packed_size` is what it takes. It is read on the SIMD target that packed
// it.
Index packed_size(Index n, Index k);
void pack(Index n, Index k, Matrix b, Real* packed);
// Whether a product of so many rows is faster so; of an untransposed B it is then the same as gemm's, bit for bit.
bool takes_packed(Index m);
// C = A op(B) + beta C.
void gemm_packed(Index m, Index n, Index k, const Real* a, Index lda, const Real* packed, Real beta, Real* c,
                 Index ldc);

// `batch` products; the operands of product i start at a.data + a_offsets[i] and so on.
struct BatchOffsets {
  const Index *a, *b, *c;
};
void gemm_batch(Index batch, Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc,
                BatchOffsets offsets);

}  // namespace heed::kernels
