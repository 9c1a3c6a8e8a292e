#include "heed/explain/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "heed/base/spelling.h"
#include "heed/base/utf8.h"
#include "heed/explain/sentence_weights.h"

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

double within(double weight) { return weight > 0 ? std::min(weight, 1.0) : 0.0; }  // NaN is nothing

char shade(double weight) {
  return kRamp[static_cast<std::size_t>(within(weight) * static_cast<double>(kRamp.size() - 1) + 0.5)];
}

// What sets the colour of a weight as background.
std::string background(double weight, TerminalColour colour) {
  const double w = within(weight);
  if (colour == TerminalColour::palette) return fmt::format("\x1b[48;5;{}m", 232 + static_cast<int>(w * 23 + 0.5));
  // Dark blue to yellow, rising evenly in lightness: readable without colour vision.
  const auto mix = [w](double from, double to) { return static_cast<int>(from + w * (to - from) + 0.5); };
  return fmt::format("\x1b[48;2;{};{};{}m", mix(16, 253), mix(24, 231), mix(64, 37));
}

std::string cell(double weight, TerminalColour colour) {
  if (colour == TerminalColour::none) return std::string(2, shade(weight));
  return background(weight, colour) + "  \x1b[0m";
}

std::string without_spaces_behind(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// A text as it is written, cut where it would be wider than `most` columns, and filled up to `least`.
std::string fitted(const std::string& text, std::size_t least, std::size_t most) {
  std::string written;
  std::size_t width = 0;
  for (const DisplayCharacter& character : display_characters(text)) {
    if (width + static_cast<std::size_t>(character.width) > most) break;
    written += character.text, width += static_cast<std::size_t>(character.width);
  }
  return written + std::string(width < least ? least - width : 0, ' ');
}

// The share of the weight that a sentence got, in kBarColumns columns: "0.42 ####...... ".
constexpr std::size_t kBarColumns = 16, kBarLength = 10;
std::string written_bar(double weight) {
  const auto length = static_cast<std::size_t>(within(weight) * static_cast<double>(kBarLength) + 0.5);
  return fmt::format("{:.2f} {}{} ", weight, std::string(length, '#'), std::string(kBarLength - length, '.'));
}

void check_weights(const Tensor& weights, const Shape& expected) {
  require(weights.shape() == expected, "[terminal] weights {} are not {}", weights.shape(), expected);
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
    text += without_spaces_behind(written) + '\n';
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string written(margin - width_of(rows[i]), ' ');
    for (const DisplayCharacter& character : rows[i]) written += character.text;
    written += ' ';
    for (std::size_t j = 0; j < columns.size(); ++j)
      written += cell(static_cast<double>(weights.at({static_cast<Index>(i), static_cast<Index>(j)})), colour);
    text += without_spaces_behind(written) + '\n';
  }
  return text;
}

std::string draw_regions(std::span<const std::string> outputs, Index rows, Index columns, const Tensor& weights,
                         TerminalColour colour, Index width) {
  const auto n = static_cast<Index>(outputs.size()), regions = rows * columns;
  check_weights(weights, Shape{n, regions});
  if (n == 0 || regions == 0) return "";
  const Tensor plain = weights.contiguous();
  const Index block = 2 * columns, across = std::max<Index>(1, (width + 2) / (block + 2));
  const auto wide = static_cast<std::size_t>(block);
  std::string text;
  for (Index first = 0; first < n; first += across) {
    const Index last = std::min(n, first + across);
    std::string words;
    for (Index i = first; i < last; ++i)
      words += (i > first ? "  " : "") + fitted(outputs[static_cast<std::size_t>(i)], wide, wide);
    text += without_spaces_behind(words) + '\n';
    for (Index row = 0; row < rows; ++row) {
      std::string line;
      for (Index i = first; i < last; ++i) {
        const Real* all = plain.data() + i * regions;
        const auto largest = static_cast<double>(*std::max_element(all, all + regions));
        if (i > first) line += "  ";
        for (const Real* at = all + row * columns; at < all + (row + 1) * columns; ++at)
          line += cell(largest > 0 ? static_cast<double>(*at) / largest : 0, colour);
      }
      text += without_spaces_behind(line) + '\n';
    }
  }
  return text;
}

std::string draw_document(std::span<const std::string> outputs, std::span<const std::string> words,
                          const Tensor& weights, TerminalColour colour, const std::vector<Index>& sentence_ends,
                          Index width) {
  const auto n = static_cast<Index>(outputs.size()), m = static_cast<Index>(words.size());
  check_weights(weights, Shape{n, m});
  const SentenceWeights shown = sentence_weights(weights, sentence_ends);
  const std::vector<Index> ends = whole_sentences(sentence_ends, m);
  const std::string beside(ends.empty() ? 0 : kBarColumns, ' ');  // lines that go on
  std::string text;
  for (Index i = 0; i < n; ++i) {
    text += displayed(outputs[static_cast<std::size_t>(i)]) + '\n';
    const Real* row = shown.words.data() + i * m;
    const double largest = m > 0 ? static_cast<double>(*std::max_element(row, row + m)) : 0;
    std::size_t sentence = 0;
    const auto bar = [&] {
      return sentence < ends.size()
                 ? written_bar(static_cast<double>(shown.sentences.at({i, static_cast<Index>(sentence)})))
                 : std::string();
    };
    std::string line = bar(), shades = beside;
    Index used = 0;
    const auto end_line = [&](const std::string& before) {
      text += without_spaces_behind(line) + '\n';
      if (colour == TerminalColour::none) text += without_spaces_behind(shades) + '\n';
      line = before, shades = beside, used = 0;
    };
    for (Index j = 0; j < m; ++j) {
      const std::string word = displayed(words[static_cast<std::size_t>(j)]);
      const Index wide = display_width(word);
      const double share = largest > 0 ? static_cast<double>(row[j]) / largest : 0;
      if (used > 0 && used + 1 + wide + static_cast<Index>(beside.size()) > width) end_line(beside);
      if (used > 0) line += ' ', shades += ' ', ++used;
      shades += std::string(static_cast<std::size_t>(wide), shade(share));
      line += colour == TerminalColour::none
                  ? word
                  : fmt::format("{}\x1b[{}m{}\x1b[0m", background(share, colour), share > 0.5 ? 30 : 97, word);
      used += wide;
      if (sentence + 1 < ends.size() && ends[sentence] == j + 1) {
        ++sentence;
        end_line(bar());
      }
    }
    if (used > 0) end_line("");
  }
  return text;
}

}  // namespace heed
