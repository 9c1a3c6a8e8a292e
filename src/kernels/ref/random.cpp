#include "heed/kernels/ref/random.h"

namespace heed::kernels::ref {

std::uint32_t dropout_threshold(Real rate) {
  return static_cast<std::uint32_t>(static_cast<double>(rate) * 4294967296.0);
}

void dropout(Index begin, Index end, Real rate, RandomKey key, const Real* x, Real* y) {
  const std::uint32_t threshold = dropout_threshold(rate);
  const Real scale = static_cast<Real>(1.0 / (1.0 - static_cast<double>(rate)));
  for (Index i = begin; i < end; ++i) {
    const auto counter = static_cast<std::uint64_t>(16 * (i / 64) + i % 16);
    const RandomBlock block = random_block(key, counter);
    const bool kept = block[static_cast<std::size_t>(i / 16 % 4)] >= threshold;
    y[i] = kept ? x[i] * scale : Real{0};
  }
}

}  // namespace heed::kernels::ref
