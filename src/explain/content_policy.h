#pragma once

#include <string>
#include <string_view>

// The Content-Security-Policy of a page that is one file: its inline scripts of these hashes ("'sha256-…' …") may run,
// and nothing else.

namespace heed {

// Of a page that its server hands out: it may talk to that server and to nobody else.
std::string served_page_policy(std::string_view scripts);
// Of a page that lies on a disk: it talks to nobody. A policy inside a page cannot say who may frame it.
std::string saved_page_policy(std::string_view scripts);

}  // namespace heed
