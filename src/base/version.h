#pragma once

#include <string_view>

namespace heed {

// "0.1.0".
std::string_view heed_version();

}  // namespace heed
