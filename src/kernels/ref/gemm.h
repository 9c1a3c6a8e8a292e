#pragma once

#include "heed/kernels/gemm.h"

namespace heed::kernels::ref {

void gemm(Index m, Index n, Index k, Real alpha, Matrix a, Matrix b, Real beta, Real* c, Index ldc);

}  // namespace heed::kernels::ref
