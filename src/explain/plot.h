#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heed {

// A drawing of y over x for several series, such as a learning curve or BLEU over sentence length.
struct LinePlot {
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;  // x rising; what is not finite is left out and breaks the line
  };
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool from_zero = false;  // the y axis begins at 0
  bool marks = true;       // every point is marked; better without if there are many
};

// A whole SVG file. Colours (Okabe, Ito 2008) differ for every kind of colour vision, series also in their marks and
// dashes; text and axes take the middle grey that can be read on light and on dark pages.
std::string draw_svg(const LinePlot& plot);

// Round numbers, at most `most` + 1 of them and at least two, from at or below `low` to at or above `high`, evenly
// spaced by 1, 2 or 5 times a power of ten.
std::vector<double> axis_ticks(double low, double high, int most = 6);

}  // namespace heed
