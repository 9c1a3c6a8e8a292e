#include "heed/serve/content_policy.h"

#include <fmt/format.h>

namespace heed {

std::string content_policy(std::string_view scripts) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      scripts.empty() ? "'none'" : scripts);
}

}  // namespace heed
