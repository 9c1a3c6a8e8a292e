#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace heed {

// What a caller can cause: shapes that do not fit, a damaged file, too little memory. The text leads with the
// op or the file and quotes the offending numbers. Front ends map it to an exit code, an HTTP 4xx, a ValueError.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(fmt::format(text, std::forward<Args>(args)...));
}

// The text is formatted only when the condition fails, so a check costs one branch.
template <class... Args>
inline void require(bool ok, fmt::format_string<Args...> text, Args&&... args) {
  if (!ok) [[unlikely]]
    fail(text, std::forward<Args>(args)...);
}

}  // namespace heed
