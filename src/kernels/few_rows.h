#pragma once
#include "heed/kernels/gemm.h"

// Products of few rows, on the calling thread (docs/decisions/0013 and 0035): A is never transposed. Each element is
// summed in the same order whatever m, begin and end are.

namespace heed::kernels {

// Columns [begin, end) of C = alpha A B + beta C.
void few_rows(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc);
// The same of C = alpha A Bᵀ + beta C.
void few_rows_transposed(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                         Index ldc);
// The same where there are more rows and the sums are long; in an order of its own.
void some_rows_transposed(Index begin, Index end, Index m, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c,
                          Index ldc);

// op(B) [k, n] as few_rows_packed reads it: tile after tile, in each row after row, whole vectors: packed_columns(n) ·
// k numbers.
void pack_tiles(Index n, Index k, Matrix b, Real* packed);
Index packed_columns(Index n);
Index tiles_of(Index n);
// Tiles [begin, end) of C = A B + beta C. Sums are those of few_rows, bit for bit.
void few_rows_packed(Index begin, Index end, Index m, Index n, Index k, const Real* a, Index lda, const Real* packed,
                     Real beta, Real* c, Index ldc);

}  // namespace heed::kernels
