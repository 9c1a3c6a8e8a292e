#include "heed/explain/gold_share.h"

#include <map>
#include <set>

#include "heed/base/utf8.h"

namespace heed {
namespace {

// The number, from 0, of the word between white space that each token stands in; -1 of one that stands in none.
struct WordsOfTokens {
  std::vector<Index> word;
  Index count = 0;
};
WordsOfTokens words_of_tokens(const TraceText& text) {
  std::vector<Index> of_character;  // -1: white space
  Index words = 0;
  bool inside = false;
  for (const Character& character : Characters(text.text)) {
    const bool blank = is_white_space(character.code);
    if (!blank && !inside) ++words;
    inside = !blank;
    of_character.push_back(blank ? -1 : words - 1);
  }
  WordsOfTokens result{{}, words};
  for (const TraceToken& token : text.tokens) {
    const auto begin = static_cast<std::size_t>(token.begin);
    result.word.push_back(token.begin < token.end && begin < of_character.size() ? of_character[begin] : -1);
  }
  return result;
}

}  // namespace

GoldShare& GoldShare::operator+=(const GoldShare& other) {
  const auto own = static_cast<double>(rows), more = static_cast<double>(other.rows);
  rows += other.rows;
  if (rows == 0) return *this;
  share = (share * own + other.share * more) / static_cast<double>(rows);
  uniform = (uniform * own + other.uniform * more) / static_cast<double>(rows);
  return *this;
}

GoldShare gold_share(const Trace& trace, const AlignmentLinks& gold) {
  GoldShare result;
  if (!trace.alignment || gold.sure.empty() || !is_text(trace.column_axis().kind)) return result;
  const WordsOfTokens columns = words_of_tokens(trace.column_axis().text);
  const Tensor weights = trace.alignment.contiguous();
  const Index n = weights.size(0), m = weights.size(1);
  const bool one_row = n == 1 || is_chosen(trace.row_axis().kind);
  const WordsOfTokens rows = one_row ? WordsOfTokens{{0}, 1} : words_of_tokens(trace.row_axis().text);

  std::map<Index, std::set<Index>> looked_at;  // by the word that looks
  for (const auto& [column, row] : gold.sure) looked_at[one_row ? 0 : row].insert(column);
  std::map<Index, std::pair<double, double>> found;  // by the word that looks: weight on gold places, and all
  for (Index i = 0; i < n; ++i) {
    const auto links = looked_at.find(rows.word[static_cast<std::size_t>(i)]);
    if (links == looked_at.end()) continue;
    auto& [on_gold, all] = found[links->first];
    for (Index j = 0; j < m; ++j) {
      const auto weight = static_cast<double>(weights.data()[i * m + j]);
      all += weight;
      if (links->second.count(columns.word[static_cast<std::size_t>(j)]) > 0) on_gold += weight;
    }
  }
  for (const auto& [row, sums] : found)
    result += {.share = sums.second > 0 ? sums.first / sums.second : 0,
               .uniform = static_cast<double>(looked_at[row].size()) / static_cast<double>(columns.count),
               .rows = 1};
  return result;
}

}  // namespace heed
