#pragma once

#include <array>
#include <string>
#include <string_view>

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

// The beginning of a file: size, label for those who listen, and the styles of text (13 px), .title and .axis. They
// take the middle grey that can be read on light and on dark pages. `styles` are added to them.
std::string svg_opening(double width, double height, std::string_view label, std::string_view styles = {});

}  // namespace heed
