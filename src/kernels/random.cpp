#include "heed/kernels/random.h"

#include <algorithm>

#include "heed/base/threads.h"
#include "heed/kernels/ref/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/random.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

#if defined(HEED_DOUBLE)
// The gradient checks run on the scalar twin: words of 32 bits do not fill vectors of doubles.
#elif HWY_TARGET == HWY_SCALAR
void dropout_groups(Index begin, Index end, Real rate, RandomKey key, const Real* x, Real* y) {
  ref::dropout(64 * begin, 64 * end, rate, key, x, y);
}
#else
using DU = hn::ScalableTag<std::uint32_t>;
using VU = hn::Vec<DU>;

// The high halves of a[i] * b; the products of even and odd lanes are made apart.
HWY_INLINE VU high_product(VU a, VU b) {
  const hn::ScalableTag<std::uint64_t> du64;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(DU(), hn::ShiftRight<32>(hn::BitCast(du64, a))), b);
  return hn::OddEven(hn::BitCast(DU(), odd), hn::BitCast(DU(), hn::ShiftRight<32>(even)));
}

// Elements [64 group, 64 group + 64): group begin to end.
void dropout_groups(Index begin, Index end, Real rate, RandomKey key, const Real* x, Real* y) {
  const DU du;
  const Index step = lanes();
  const V scale = set(1.0 / (1.0 - static_cast<double>(rate)));
  // Compared as signed numbers after flipping the top bit, which not every target has for unsigned ones.
  const hn::ScalableTag<std::int32_t> di;
  const VU top = hn::Set(du, 0x80000000U);
  const auto threshold = hn::BitCast(di, hn::Xor(hn::Set(du, ref::dropout_threshold(rate)), top));
  const VU m0 = hn::Set(du, 0xD2511F53U), m1 = hn::Set(du, 0xCD9E8D57U);
  for (Index group = begin; group < end; ++group) {
    const std::uint64_t base = 16 * static_cast<std::uint64_t>(group);
    for (Index lane = 0; lane < 16; lane += step) {
      VU c0 = hn::Iota(du, static_cast<std::uint32_t>(base + static_cast<std::uint64_t>(lane)));
      VU c1 = hn::Set(du, static_cast<std::uint32_t>(base >> 32));
      VU c2 = hn::Set(du, static_cast<std::uint32_t>(key.stream));
      VU c3 = hn::Set(du, static_cast<std::uint32_t>(key.stream >> 32));
      std::uint32_t k0 = static_cast<std::uint32_t>(key.seed), k1 = static_cast<std::uint32_t>(key.seed >> 32);
      for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
        const VU high0 = high_product(c0, m0), high1 = high_product(c2, m1);
        const VU low0 = hn::Mul(c0, m0), low1 = hn::Mul(c2, m1);
        c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(du, k0));
        c1 = low1;
        c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(du, k1));
        c3 = low0;
      }
      const VU words[4] = {c0, c1, c2, c3};
      for (Index word = 0; word < 4; ++word) {
        const Index at = 64 * group + 16 * word + lane;
        const auto dropped = hn::RebindMask(D(), hn::Lt(hn::BitCast(di, hn::Xor(words[word], top)), threshold));
        store(hn::IfThenZeroElse(dropped, hn::Mul(load(x + at), scale)), y + at);
      }
    }
  }
}
#endif

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

#ifdef HEED_DOUBLE
void dropout(Index n, Real rate, RandomKey key, const Real* x, Real* y) { ref::dropout(0, n, rate, key, x, y); }
#else
HWY_EXPORT(dropout_groups);

void dropout(Index n, Real rate, RandomKey key, const Real* x, Real* y) {
  const Index groups = n / 64;
  parallel_for(groups, 256, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(dropout_groups)(begin, end, rate, key, x, y);
  });
  ref::dropout(64 * groups, n, rate, key, x, y);
}
#endif

}  // namespace heed::kernels
#endif
