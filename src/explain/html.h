#pragma once

#include <string>
#include <string_view>

namespace heed {

// The page (explain/page.h) with traces inside, as one file that works from disk: their JSON stands in
// <script type="application/json" id="trace">. Whatever the texts are, they stay inside it: <, > and &, which JSON has
// in strings alone, are written as \u003c, \u003e and \u0026. Nothing in the file but the page's own `scripts` (their
// hashes, as explain/page.h gives them) may run, and it may load and send nothing. An Error if there is no page.
std::string html_page(std::string_view page, std::string_view scripts, std::string_view trace_json);

}  // namespace heed
