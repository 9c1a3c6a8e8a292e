#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

// SHA-256 (FIPS 180-4).
std::array<std::uint8_t, 32> sha256(std::string_view text);

// The Content-Security-Policy of a page that is one file: its own inline scripts may run, by their hashes, and nothing
// else; it may talk to its own server and to nobody else.
std::string content_policy(std::string_view html);

}  // namespace heed
