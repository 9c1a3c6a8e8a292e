#pragma once

#include <cstdint>

// What EM expects is summed in whole multiples of 2^-32. Sums of integers do not depend on their order, so any number
// of threads adds to the same counts and finds the same bits.

namespace heed {

using ExpectedCount = std::uint64_t;

inline ExpectedCount to_expected(double count) { return static_cast<ExpectedCount>(count * 4294967296.0); }
inline double from_expected(ExpectedCount count) { return static_cast<double>(count) / 4294967296.0; }

}  // namespace heed
