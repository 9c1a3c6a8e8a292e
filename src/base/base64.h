#pragma once

#include <optional>
#include <string>
#include <string_view>

// Bytes as letters (RFC 4648).

namespace heed {

std::string base64(std::string_view bytes);
// The bytes of a text that is whole base64, with its '='; nothing if it is not.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace heed
