#pragma once

#include <string_view>

namespace heed {

// The page of web/, one self-contained HTML file, as it was when the library was built. Empty where it was not built
// in: without npm, or with HEED_PAGE=OFF. Its source is written by cmake/page.cmake.
std::string_view page_html();

}  // namespace heed
