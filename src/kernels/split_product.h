#pragma once

#include "heed/kernels/gemm.h"

namespace heed::kernels {

// Products in full by AMX, whose tiles multiply numbers of bfloat16 only (docs/decisions/0038). A float is the sum of
// three of those, x = x₁ + x₂ + x₃, each with the eight bits that follow those of the one before, exactly. Then
//   A B = A₁B₃ + A₁B₂ + A₂B₂ + A₂B₁ + A₃B₁ + A₁B₁,
// where what is left out, A₂B₃ and less, is below the last bit of a float, and all is summed up in floats. So the
// result is as exact as a product of floats. An infinity or NaN in A or B makes NaNs of what it is multiplied to.

// Whether this machine has it and a product of these sizes is faster so. Not both of A and B are transposed.
bool takes_split(Index m, Index n, Index k);
// C = alpha op(A) op(B) + beta C as gemm has it, on the calling thread. Each element is summed in the same order
// whatever m and n are.
void split_product(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc);

}  // namespace heed::kernels
