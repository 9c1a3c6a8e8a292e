#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor/tensor.h"

// What every SVG drawing of Heed is made with.

namespace heed {

// Colours that differ for every kind of colour vision (Okabe, Ito 2008), and dashes for when there are more series than
// colours.
inline constexpr std::array kSeriesColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
inline constexpr std::array kSeriesDashes = {"", "7 3", "2 3", "10 3 2 3"};

// " stroke="#0072B2"" and, beyond the first colours, its dashes: the line of series `number`, from 0.
std::string series_stroke(std::size_t number);

// The colour of a weight, "#rrggbb": from dark blue by way of green to light yellow. Lightness rises evenly with the
// weight, so the scale reads the same without colour vision. Beyond 0..1 it stays at the ends; NaN is 0.
//   OKLCh (Ottosson 2020):  L = 0.22 + 0.71 w,  C = 0.05 + 0.1 w²,  h = 285° - 180° w
std::string weight_colour(double weight);

// A text as the content of an element or of an attribute: what is markup is shown, never run. What XML has no place for
// (control characters) becomes a space, what is no UTF-8 becomes U+FFFD.
std::string svg_escaped(std::string_view text);

// About how wide a text is, in units of the font's size; a little more than most fonts need.
double text_width(std::string_view text);
// The text, or as much of its beginning as is no wider than `width`, with … behind it.
std::string shortened(std::string_view text, double width);

// Sizes that the pictures of weights share, in pixels.
inline constexpr double kSvgMargin = 12, kSvgGap = 6, kSvgFont = 13;
inline constexpr double kSvgTitleHeight = 28, kSvgLegendRow = 20;

inline constexpr double kSvgLongestLabel = 14;  // in units of the font

// A text at its place; where it is wider than `longest`, in units of the font, it is shortened and says all of it when
// pointed at.
std::string svg_label(const std::string& label, double longest, const std::string& attributes);
inline std::string svg_label(const std::string& label, const std::string& attributes) {
  return svg_label(label, kSvgLongestLabel, attributes);
}
// How wide the widest of such labels is, in pixels.
double svg_widest(const std::vector<std::string>& labels, double longest = kSvgLongestLabel);

// The labels above columns: upright where each is as narrow as its column, slanted otherwise.
class SvgColumnLabels {
 public:
  SvgColumnLabels(std::vector<std::string> labels, double column, double longest = kSvgLongestLabel);
  double height() const;
  // How far they reach to the right of the first column's left edge.
  double reach() const;
  // Standing on (left, bottom).
  std::string draw(double left, double bottom) const;

 private:
  double middle(std::size_t column) const { return (static_cast<double>(column) + 0.5) * column_; }
  std::vector<std::string> labels_;
  double column_, longest_;
  bool slanted_;
};

// A picture's title at the top, and how wide the picture must be for it. Nothing for an empty one.
std::string svg_title(const std::string& title);
double svg_title_width(const std::string& title);
// For those who listen: which column each row of weights [rows, columns] looks at most.
std::string svg_described(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                          const Tensor& weights);
// The largest weight, or 1 if none is above 0.
double largest_weight(const Tensor& weights);
// The scale of weight_colour, from 0 to the weight of its lightest colour, and what it measures.
inline constexpr double kSvgScaleWidth = 188, kSvgScaleHeight = 44;
std::string svg_scale(double x, double y, double largest, std::string_view what = "weight");

// The beginning of a file: size, label for those who listen, and the styles of text (13 px), .title and .axis. They
// take the middle grey that can be read on light and on dark pages. `styles` are added to them.
std::string svg_opening(double width, double height, std::string_view label, std::string_view styles = {});

}  // namespace heed
