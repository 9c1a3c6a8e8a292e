#pragma once

#include <string>
#include <string_view>

namespace heed {

// The Content-Security-Policy of a page that is one file: its inline scripts of these hashes ("'sha256-…' …") may run,
// and nothing else; it may talk to its own server and to nobody else.
std::string content_policy(std::string_view scripts);

}  // namespace heed
