#pragma once

#include <string>
#include <string_view>

#include "heed/trace/trace.h"

namespace heed {

// The characters of a text, each once, that no font of this system has: a PNG (explain/png.h) shows boxes in their
// place. Empty where every one can be drawn, and where fontconfig, which knows the fonts, is not here.
std::string missing_glyphs(std::string_view text);
// Of all texts of a trace.
std::string missing_glyphs(const Trace& trace);

}  // namespace heed
