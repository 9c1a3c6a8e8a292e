#pragma once

#include <string_view>

namespace heed {

// The page of web/, one self-contained HTML file, as it was when the library was built. Empty where it was not built
// in: without npm, or with HEED_PAGE=OFF. Its source is written by cmake/page.cmake.
std::string_view page_html();
// The hashes of its inline scripts, as a Content-Security-Policy lists them: "'sha256-…' 'sha256-…'".
std::string_view page_scripts();

}  // namespace heed
