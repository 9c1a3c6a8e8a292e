#pragma once

#include <cstdint>

namespace heed {

// The same in every vocabulary. Padding has no id: what stands beyond a length is never looked at.
inline constexpr std::int32_t kUnknown = 0, kBegin = 1, kEnd = 2;

}  // namespace heed
