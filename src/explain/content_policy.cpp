#include "heed/explain/content_policy.h"

#include <fmt/format.h>

namespace heed {
namespace {

std::string policy(std::string_view scripts, std::string_view connections) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; "
      "font-src data:; "
      "connect-src {}; base-uri 'none'; form-action 'none'",
      scripts.empty() ? "'none'" : scripts, connections);
}

}  // namespace

std::string served_page_policy(std::string_view scripts) {
  return policy(scripts, "'self'") + "; frame-ancestors 'none'";
}

std::string saved_page_policy(std::string_view scripts) { return policy(scripts, "'none'"); }

}  // namespace heed
