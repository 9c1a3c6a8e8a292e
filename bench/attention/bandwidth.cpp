// The other yardstick: how many bytes a second come from memory when they are only looked at.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/bandwidth.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/case.h"

HWY_BEFORE_NAMESPACE();
namespace heed::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Four chains, so that adding never waits.
float sum_of(const float* numbers, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  for (std::size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    a += hn::LoadU(d, numbers + i), b += hn::LoadU(d, numbers + i + lanes);
    c += hn::LoadU(d, numbers + i + 2 * lanes), e += hn::LoadU(d, numbers + i + 3 * lanes);
  }
  return hn::GetLane(hn::SumOfLanes(d, a + b + c + e));
}

}  // namespace heed::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::bench {

HWY_EXPORT(sum_of);

double memory_bandwidth(int threads) {
  const std::vector<float> numbers(std::size_t{1} << 28, 1.0f);  // a gigabyte: larger than any cache
  const std::size_t share = numbers.size() / static_cast<std::size_t>(threads);
  double best = 0;
  volatile float kept = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    float total = 0;
    const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : total)
    for (int part = 0; part < threads; ++part)
      total += HWY_DYNAMIC_DISPATCH(sum_of)(numbers.data() + static_cast<std::size_t>(part) * share, share);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    kept = total;
    best = std::max(best, 4e-9 * static_cast<double>(share * static_cast<std::size_t>(threads)) / taken.count());
  }
  static_cast<void>(kept);
  return best;
}

}  // namespace heed::bench
#endif
