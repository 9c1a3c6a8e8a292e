#include "heed/explain/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace heed {
namespace {

constexpr std::string_view kRamp = " .:-=+*#%@";

// A code point's first byte; the others continue it.
bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> result;
  for (const char c : text) {
    if (starts_character(c) || result.empty()) result.emplace_back();
    result.back() += c;
  }
  return result;
}

std::string cell(double weight, TerminalColour colour) {
  const double w = std::clamp(weight, 0.0, 1.0);
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
  std::vector<std::vector<std::string>> columns, rows;
  std::size_t height = 0, margin = 0;
  for (const std::string& label : inputs) height = std::max(height, columns.emplace_back(characters(label)).size());
  for (const std::string& label : outputs) margin = std::max(margin, rows.emplace_back(characters(label)).size());

  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    text.append(margin + 1, ' ');
    for (const auto& column : columns) {
      const std::size_t above = height - column.size();  // labels stand on the matrix
      text += line >= above ? column[line - above] : " ";
      text += ' ';
    }
    text += '\n';
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text.append(margin - rows[i].size(), ' ');
    for (const std::string& character : rows[i]) text += character;
    text += ' ';
    for (std::size_t j = 0; j < columns.size(); ++j)
      text += cell(static_cast<double>(weights.at({static_cast<Index>(i), static_cast<Index>(j)})), colour);
    text += '\n';
  }
  return text;
}

}  // namespace heed
