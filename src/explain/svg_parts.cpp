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

struct CodeRange {
  char32_t first, last;
};
bool within(char32_t code, std::initializer_list<CodeRange> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

// Of one character, in units of the font's size.
double character_width(char32_t code) {
  if (within(code, {{0x300, 0x36F},
                    {0x483, 0x489},
                    {0x591, 0x5BD},
                    {0x610, 0x61A},
                    {0x64B, 0x65F},
                    {0x200B, 0x200F},
                    {0x202A, 0x202E},
                    {0x20D0, 0x20FF},
                    {0xFE00, 0xFE0F}}))
    return 0;  // marks on the character before, and what is never seen
  if (within(code, {{0x1100, 0x115F},
                    {0x2E80, 0xA4CF},
                    {0xA960, 0xA97F},
                    {0xAC00, 0xD7A3},
                    {0xF900, 0xFAFF},
                    {0xFE30, 0xFE6F},
                    {0xFF00, 0xFF60},
                    {0xFFE0, 0xFFE6},
                    {0x1F000, 0x1FAFF},
                    {0x20000, 0x3FFFD}}))
    return 1.05;  // Chinese, Japanese, Korean and pictures
  if (within(code, {{' ', '!'}, {'\'', '\''}, {',', '.'}, {':', ';'}, {'I', 'J'}, {'i', 'j'}, {'l', 'l'}, {'|', '|'}}))
    return 0.36;
  if (within(code, {{'M', 'M'}, {'W', 'W'}, {'m', 'm'}, {'w', 'w'}, {'%', '%'}, {'@', '@'}})) return 0.95;
  return within(code, {{'A', 'Z'}}) ? 0.72 : 0.62;
}

}  // namespace

std::size_t first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return valid_utf8(text.substr(0, bytes)) ? bytes : 0;
}

char32_t code_point(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]);
  char32_t code = static_cast<unsigned char>(character[0]) & (0x7FU >> character.size());
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

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
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = first_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
    text.remove_prefix(character.size());
    const char32_t code = bytes == 0 ? 0xFFFD : code_point(character);
    switch (code) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case 0xFFFD:
      case 0xFFFE:
      case 0xFFFF: result += kReplacement; break;
      default:
        if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
          result += ' ';
        } else {
          result += character;
        }
    }
  }
  return result;
}

double text_width(std::string_view text) {
  double width = 0;
  while (!text.empty()) {
    const std::size_t bytes = first_character(text);
    width += bytes == 0 ? 1 : character_width(code_point(text.substr(0, bytes)));
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return width;
}

std::string shortened(std::string_view text, double width) {
  if (text_width(text) <= width) return std::string(text);
  const double room = width - 1;  // the … is as wide as its font makes it, at most 1
  std::size_t end = 0;
  for (double used = 0; end < text.size();) {
    const std::size_t bytes = first_character(text.substr(end));
    used += bytes == 0 ? 1 : character_width(code_point(text.substr(end, bytes)));
    if (used > room) break;
    end += std::max<std::size_t>(bytes, 1);
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string svg_label(const std::string& label, double longest, const std::string& attributes) {
  const std::string shown = shortened(label, longest);
  const std::string whole = shown == label ? "" : fmt::format("<title>{}</title>", svg_escaped(label));
  return fmt::format("<text {}>{}{}</text>\n", attributes, whole, svg_escaped(shown));
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

std::string svg_scale(double x, double y, double largest) {
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
  return svg + fmt::format("<text x=\"{}\" y=\"{}\">weight</text>\n", x + kSteps * kStep + kSvgGap, y + 10);
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
