#include "heed/data/word_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "heed/data/text_file.h"

namespace heed {

std::optional<WordLinks> read_word_links(std::string_view line) {
  WordLinks links;
  for (const std::string_view word : words_of_line(line)) {
    const char* const end = word.data() + word.size();
    std::pair<std::int32_t, std::int32_t> link;
    const auto [dash, first_error] = std::from_chars(word.data(), end, link.first);
    if (first_error != std::errc() || dash == end || *dash != '-' || link.first < 0) return std::nullopt;
    const auto [rest, second_error] = std::from_chars(dash + 1, end, link.second);
    if (second_error != std::errc() || rest != end || link.second < 0) return std::nullopt;
    links.push_back(link);
  }
  return links;
}

std::string word_links_text(const WordLinks& links) {
  std::string text;
  for (const auto& [input, output] : links)
    fmt::format_to(std::back_inserter(text), "{}{}-{}", text.empty() ? "" : " ", input, output);
  return text;
}

WordLinks links_of_pieces(const WordLinks& links, const std::vector<Index>& input_word_of,
                          const std::vector<Index>& output_word_of) {
  const auto for_each_piece = [](const std::vector<Index>& word_of, std::int32_t word, const auto& use) {
    const auto [begin, end] = std::equal_range(word_of.begin(), word_of.end(), static_cast<Index>(word));
    for (auto piece = begin; piece != end; ++piece) use(static_cast<std::int32_t>(piece - word_of.begin()));
  };
  WordLinks pieces;
  for (const auto& [input, output] : links)
    for_each_piece(output_word_of, output, [&, input = input](std::int32_t t) {
      for_each_piece(input_word_of, input, [&](std::int32_t s) { pieces.emplace_back(s, t); });
    });
  return pieces;
}

void spread_links(const WordLinks& links, const std::vector<Index>& input_word_of,
                  const std::vector<Index>& output_word_of, std::size_t width, Real* rows,
                  std::optional<std::size_t> unlinked) {
  for (const auto& [s, t] : links_of_pieces(links, input_word_of, output_word_of))
    rows[static_cast<std::size_t>(t) * width + static_cast<std::size_t>(s)] = 1;
  for (std::size_t t = 0; t < output_word_of.size(); ++t) {
    Real* const row = rows + t * width;
    const auto linked = static_cast<Real>(std::count(row, row + width, Real{1}));
    if (linked > 1) std::for_each(row, row + width, [linked](Real& weight) { weight /= linked; });
    if (linked == 0 && unlinked) row[*unlinked] = 1;
  }
}

}  // namespace heed
