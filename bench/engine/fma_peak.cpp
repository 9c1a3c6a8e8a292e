// The yardstick: how many multiply-adds this machine can do when nothing else stands in the way.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/fma_peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "engine/case.h"

HWY_BEFORE_NAMESPACE();
namespace heed::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Fourteen independent chains hide the latency of two FMA units. Returns the operations done; `sink`
// gives the start and keeps the result alive.
double multiply_add(long rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999f), term = hn::Set(d, 0.001f);
  // Different starts, or the compiler would see that all chains are one.
  const auto start = [&](int chain) { return hn::Set(d, *sink + static_cast<float>(chain)); };
  auto a0 = start(0), a1 = start(1), a2 = start(2), a3 = start(3), a4 = start(4), a5 = start(5), a6 = start(6);
  auto a7 = start(7), a8 = start(8), a9 = start(9), a10 = start(10), a11 = start(11), a12 = start(12), a13 = start(13);
  for (long i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, term), a1 = hn::MulAdd(a1, factor, term);
    a2 = hn::MulAdd(a2, factor, term), a3 = hn::MulAdd(a3, factor, term);
    a4 = hn::MulAdd(a4, factor, term), a5 = hn::MulAdd(a5, factor, term);
    a6 = hn::MulAdd(a6, factor, term), a7 = hn::MulAdd(a7, factor, term);
    a8 = hn::MulAdd(a8, factor, term), a9 = hn::MulAdd(a9, factor, term);
    a10 = hn::MulAdd(a10, factor, term), a11 = hn::MulAdd(a11, factor, term);
    a12 = hn::MulAdd(a12, factor, term), a13 = hn::MulAdd(a13, factor, term);
  }
  const auto sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13;
  *sink = hn::GetLane(hn::SumOfLanes(d, sum));
  return 2.0 * 14 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace heed::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::bench {

HWY_EXPORT(multiply_add);

double fma_peak(int threads) {
  double best = 0;
  // The best of several short tries: a peak is what nothing disturbed.
  for (int attempt = 0; attempt < 20; ++attempt) {
    double operations = 0;
    const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel num_threads(threads) reduction(+ : operations)
    {
      volatile float value = 1;
      float sink = value;
      operations = HWY_DYNAMIC_DISPATCH(multiply_add)(1'000'000, &sink);
      value = sink;
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    best = std::max(best, operations / taken.count() * 1e-9);
  }
  return best;
}

}  // namespace heed::bench
#endif
