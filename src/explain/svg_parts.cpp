#include "heed/explain/svg_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr double kTitleFont = 15;

// A linear share of red, green or blue as sRGB's number of 0..255.
int srgb(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  return static_cast<int>(std::lround(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055)));
}

double cubed(double x) { return x * x * x; }

// In units of the font's size.
double grapheme_width(const Grapheme& grapheme) {
  if (grapheme.columns == 0) return 0;
  if (!grapheme.valid) return 1;
  if (grapheme.columns == 2) return 1.05;  // Chinese, Japanese, Korean and pictures
  const char32_t code = grapheme.code;
  if (code < 0x80) {
    const char letter = static_cast<char>(code);
    if (std::string_view(" !',-.:;IJijl|").find(letter) != std::string_view::npos) return 0.36;
    if (std::string_view("MWmw%@").find(letter) != std::string_view::npos) return 0.95;
  }
  return code >= 'A' && code <= 'Z' ? 0.72 : 0.62;
}

double label_width(const std::string& label, double longest) { return kSvgFont * std::min(text_width(label), longest); }

}  // namespace

std::string series_stroke(std::size_t number) {
  const char* dash = kSeriesDashes[number / kSeriesColours.size() % kSeriesDashes.size()];
  return fmt::format(" stroke=\"{}\"{}", kSeriesColours[number % kSeriesColours.size()],
                     *dash ? fmt::format(" stroke-dasharray=\"{}\"", dash) : std::string());
}

std::string weight_colour(double weight) {
  const double w = weight > 0 ? std::min(weight, 1.0) : 0;
  const double lightness = 0.22 + 0.71 * w, chroma = 0.05 + 0.1 * w * w, hue = (285 - 180 * w) * std::numbers::pi / 180;
  const double a = chroma * std::cos(hue), b = chroma * std::sin(hue);
  const double l = cubed(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cubed(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cubed(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return fmt::format("#{:02x}{:02x}{:02x}", srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                     srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                     srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

std::string svg_escaped(std::string_view text) {
  std::string result;
  for (const Character& character : Characters(text)) {
    switch (character.code) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case kReplacementCharacter:
      case 0xFFFE:
      case 0xFFFF: result += "\ufffd"; break;
      default: is_control(character.code) ? result += ' ' : result += character.bytes;
    }
  }
  return result;
}

double text_width(std::string_view text) {
  double width = 0;
  for (const Grapheme& grapheme : split_graphemes(text)) width += grapheme_width(grapheme);
  return width;
}

std::string shortened(std::string_view text, double width) {
  if (text_width(text) <= width) return std::string(text);
  std::string result;
  double room = width - 1;  // the … is as wide as its font makes it, at most 1
  for (const Grapheme& grapheme : split_graphemes(text)) {
    room -= grapheme_width(grapheme);
    if (room < 0) break;
    result += grapheme.bytes;
  }
  return result + "…";
}

std::string svg_label(const std::string& label, double longest, const std::string& attributes) {
  const std::string shown = shortened(label, longest);
  const std::string whole = shown == label ? "" : fmt::format("<title>{}</title>", svg_escaped(label));
  return fmt::format("<text {}>{}{}</text>\n", attributes, whole, svg_escaped(shown));
}

double svg_widest(const std::vector<std::string>& labels, double longest) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, label_width(label, longest));
  return std::ceil(width);
}

SvgColumnLabels::SvgColumnLabels(std::vector<std::string> labels, double column, double longest)
    : labels_(std::move(labels)),
      column_(column),
      longest_(longest),
      slanted_(svg_widest(labels_, longest) > column - 2) {}

double SvgColumnLabels::height() const {
  const double slope = std::numbers::sqrt2 / 2;
  return slanted_ ? std::ceil((svg_widest(labels_, longest_) + kSvgFont) * slope) + kSvgGap : kSvgFont + kSvgGap;
}

double SvgColumnLabels::reach() const {
  double right = column_ * static_cast<double>(labels_.size());
  for (std::size_t j = 0; slanted_ && j < labels_.size(); ++j)
    right = std::max(right, middle(j) + (label_width(labels_[j], longest_) + kSvgFont) * std::numbers::sqrt2 / 2);
  return std::ceil(right);
}

std::string SvgColumnLabels::draw(double left, double bottom) const {
  std::string svg;
  for (std::size_t j = 0; j < labels_.size(); ++j) {
    const double x = left + middle(j), y = bottom - kSvgGap;
    svg += svg_label(labels_[j], longest_,
                     slanted_ ? fmt::format("transform=\"translate({} {}) rotate(-45)\"", x + 4, y)
                              : fmt::format("x=\"{}\" y=\"{}\" text-anchor=\"middle\"", x, y));
  }
  return svg;
}

std::string svg_title(const std::string& title) {
  if (title.empty()) return "";
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"title\">{}</text>\n", kSvgMargin, kSvgMargin + kTitleFont,
                     svg_escaped(title));
}

double svg_title_width(const std::string& title) {
  return std::ceil(2 * kSvgMargin + 1.05 * kTitleFont * text_width(title));
}

std::string svg_described(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                          const Tensor& weights) {
  std::string text;
  const auto width = static_cast<Index>(columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Real* row = weights.data() + static_cast<Index>(i) * width;
    const Index most = std::max_element(row, row + width) - row;
    text += fmt::format("{}{} looks most at {} ({:.2f})", i > 0 ? "; " : "", rows[i],
                        columns[static_cast<std::size_t>(most)], row[most]);
  }
  return fmt::format("<desc>{}</desc>\n", svg_escaped(text));
}

double largest_weight(const Tensor& weights) {
  const Tensor plain = weights.contiguous();
  const Real largest = plain.size() > 0 ? *std::max_element(plain.data(), plain.data() + plain.size()) : Real{0};
  return largest > 0 ? static_cast<double>(largest) : 1;
}

std::string svg_scale(double x, double y, double largest, std::string_view what) {
  constexpr int kSteps = 11;
  constexpr double kStep = 12;
  std::string svg = "<g shape-rendering=\"crispEdges\">\n";
  for (int i = 0; i < kSteps; ++i)
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\" fill=\"{}\"/>\n", x + i * kStep, y, kStep,
                       weight_colour(static_cast<double>(i) / (kSteps - 1)));
  svg += "</g>\n";
  for (const int step : {0, (kSteps - 1) / 2, kSteps - 1})
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.2g}</text>\n", x + (step + 0.5) * kStep,
                       y + 24, largest * step / (kSteps - 1));
  return svg +
         fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + kSteps * kStep + kSvgGap, y + 10, svg_escaped(what));
}

std::string svg_opening(double width, double height, std::string_view label, std::string_view styles) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" aria-label=\"{2}\">\n"
      "<style>text{{font:13px system-ui,sans-serif;fill:#767676}}.title{{font-size:15px;font-weight:600}}"
      ".axis{{stroke:#767676;fill:none}}{3}</style>\n",
      width, height, svg_escaped(label), styles);
}

}  // namespace heed
