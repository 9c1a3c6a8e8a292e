#include "heed/kernels/screen.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/screen.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

bool mark_possible(Index n, const Real* about, const Margins& margins, Real a, Real b, std::uint8_t* marks) {
  const V of_errors = hn::Set(D(), a), of_norms = hn::Set(D(), b),
          none = hn::Set(D(), -std::numeric_limits<Real>::infinity());
  const auto margin = [&](V error, V norm) HWY_ATTR { return hn::MulAdd(of_errors, error, hn::Mul(of_norms, norm)); };
  V best = none;
  for_each_vector(
      n,
      [&](Index i) HWY_ATTR {
        const V low = hn::Add(load(about + i), load(margins.low + i));
        best = larger(best, hn::Sub(low, margin(load(margins.errors + i), load(margins.norms + i))));
      },
      [&](Index i, Index rest) HWY_ATTR {
        const V low = hn::Add(load_part(about + i, rest), load_part(margins.low + i, rest));
        const V least = hn::Sub(low, margin(load_part(margins.errors + i, rest), load_part(margins.norms + i, rest)));
        best = larger(best, hn::IfThenElse(hn::FirstN(D(), static_cast<size_t>(rest)), least, none));
      });
  const Real least = max_lanes(best);
  if (!std::isfinite(least)) return false;
  const V needed = hn::Set(D(), least);
  const auto mark = [&](V high, V width, Index i, Index count) HWY_ATTR {
    const M possible = hn::Ge(hn::Add(high, width), needed);
    if (hn::AllFalse(D(), possible)) return;
    HWY_ALIGN Real lane[hn::MaxLanes(D())];
    hn::Store(hn::IfThenElseZero(possible, set(1)), D(), lane);
    for (Index j = 0; j < count; ++j)
      if (lane[j] != 0) marks[i + j] = 1;
  };
  for_each_vector(
      n,
      [&](Index i) HWY_ATTR {
        mark(hn::Add(load(about + i), load(margins.high + i)),
             margin(load(margins.errors + i), load(margins.norms + i)), i, lanes());
      },
      [&](Index i, Index rest) HWY_ATTR {
        mark(hn::Add(load_part(about + i, rest), load_part(margins.high + i, rest)),
             margin(load_part(margins.errors + i, rest), load_part(margins.norms + i, rest)), i, rest);
      });
  return true;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(mark_possible);
bool mark_possible_largest(Index n, const Real* about, const Margins& margins, Real a, Real b, std::uint8_t* marks) {
  return HWY_DYNAMIC_DISPATCH(mark_possible)(n, about, margins, a, b, marks);
}
}  // namespace heed::kernels
#endif
