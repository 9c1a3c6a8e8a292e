#include "heed/explain/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "heed/base/spelling.h"
#include "heed/base/display_width.h"

namespace heed {
namespace {

constexpr std::string_view kRamp = " .:-=+*#%@";

using Label = std::vector<DisplayCharacter>;

// The columns that a label takes.
std::size_t width_of(const Label& label) {
  std::size_t width = 0;
  for (const DisplayCharacter& character : label) width += static_cast<std::size_t>(character.width);
  return width;
}

std::string cell(double weight, TerminalColour colour) {
  const double w = weight > 0 ? std::min(weight, 1.0) : 0.0;  // NaN is nothing
  switch (colour) {
    case TerminalColour::none: {
      const auto last = static_cast<double>(kRamp.size() - 1);
      return std::string(2, kRamp[static_cast<std::size_t>(w * last + 0.5)]);
    }
    case TerminalColour::palette: return fmt::format("\x1b[48;5;{}m  \x1b[0m", 232 + static_cast<int>(w * 23 + 0.5));
    case TerminalColour::true_colour: {
      // Dark blue to yellow, rising evenly in lightness: readable without colour vision.
      const auto mix = [w](double from, double to) { return static_cast<int>(from + w * (to - from) + 0.5); };
      return fmt::format("\x1b[48;2;{};{};{}m  \x1b[0m", mix(16, 253), mix(24, 231), mix(64, 37));
    }
  }
  return {};
}

}  // namespace

TerminalColour terminal_colour_named(const std::string& name) {
  static const std::vector<std::string> kNames{"auto", "true", "256", "none"};
  if (name == kNames[0]) return terminal_colour();
  if (name == kNames[1]) return TerminalColour::true_colour;
  if (name == kNames[2]) return TerminalColour::palette;
  if (name == kNames[3]) return TerminalColour::none;
  fail("[terminal] there is no colour {}{}", name, did_you_mean(name, kNames));
}

TerminalColour terminal_colour() {
  const char* none = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if ((none && *none) || !isatty(STDOUT_FILENO) || !term || std::string_view(term) == "dumb")
    return TerminalColour::none;
  const char* depth = std::getenv("COLORTERM");
  const bool full = depth && (std::string_view(depth) == "truecolor" || std::string_view(depth) == "24bit");
  return full ? TerminalColour::true_colour : TerminalColour::palette;
}

std::string draw_matrix(std::span<const std::string> outputs, std::span<const std::string> inputs,
                        const Tensor& weights, TerminalColour colour) {
  require((weights.shape() == Shape{static_cast<Index>(outputs.size()), static_cast<Index>(inputs.size())}),
          "[draw_matrix] weights {} do not fit {} outputs and {} inputs", weights.shape(), outputs.size(),
          inputs.size());
  std::vector<Label> columns, rows;
  std::size_t height = 0, margin = 0;
  for (const std::string& label : inputs)
    height = std::max(height, columns.emplace_back(display_characters(label)).size());
  for (const std::string& label : outputs)
    margin = std::max(margin, width_of(rows.emplace_back(display_characters(label))));

  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string written(margin + 1, ' ');
    for (const Label& column : columns) {
      const std::size_t above = height - column.size();  // labels stand on the matrix
      written += line >= above ? column[line - above].text : " ";
      if (line < above || column[line - above].width < 2) written += ' ';
    }
    written.erase(written.find_last_not_of(' ') + 1);
    text += written + '\n';
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string written(margin - width_of(rows[i]), ' ');
    for (const DisplayCharacter& character : rows[i]) written += character.text;
    written += ' ';
    for (std::size_t j = 0; j < columns.size(); ++j)
      written += cell(static_cast<double>(weights.at({static_cast<Index>(i), static_cast<Index>(j)})), colour);
    written.erase(written.find_last_not_of(' ') + 1);
    text += written + '\n';
  }
  return text;
}

}  // namespace heed
