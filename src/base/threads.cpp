#include "heed/base/threads.h"

#include <omp.h>

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

int thread_count() { return omp_get_max_threads(); }

void set_thread_count(int count) {
  require(count >= 1, "[threads] the thread count must be at least 1, not {}", count);
  // Never more than OpenMP will really give (OMP_THREAD_LIMIT): oneDNN leaves out the work of threads that do not come.
  omp_set_num_threads(std::min(count, omp_get_thread_limit()));
}

namespace detail {

int available_threads() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

void run_chunks(Index size, Index chunks, void (*body)(void*, Index, Index), void* context) {
  const int threads = static_cast<int>(chunks);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    body(context, size * chunk / chunks, size * (chunk + 1) / chunks);
  }
}

}  // namespace detail
}  // namespace heed
