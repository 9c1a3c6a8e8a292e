#pragma once

#include <string>
#include <string_view>

namespace heed {

enum class PngPage { white, dark, transparent };

struct PngOptions {
  double scale = 2;  // pixels for each unit of the drawing
  PngPage page = PngPage::white;
};

// One of our SVG drawings (explain/svg.h, explain/plot.h) as the bytes of a PNG file, drawn by librsvg: Arabic, Chinese
// and pictures come out right where the system has fonts for them. The library is loaded by the first call; an Error
// that says what to install if it is not there.
std::string draw_png(std::string_view svg, const PngOptions& options = {});

// An Error if a drawing of that size would have more pixels than can be drawn: before much memory is taken for it.
void check_png_size(double width, double height, const PngOptions& options = {});

}  // namespace heed
