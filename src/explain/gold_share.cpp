#include "heed/explain/gold_share.h"

#include <algorithm>
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
  hits = (hits * own + other.hits * more) / static_cast<double>(rows);
  return *this;
}

std::vector<double> weights_of_words(const Trace& trace) {
  if (!trace.alignment || !is_text(trace.column_axis().kind)) return {};
  const WordsOfTokens columns = words_of_tokens(trace.column_axis().text);
  const Tensor weights = trace.alignment.contiguous();
  const Index n = weights.size(0), m = weights.size(1);
  std::vector<double> sums(static_cast<std::size_t>(columns.count), 0.0);
  for (Index j = 0; j < m; ++j)
    if (const Index word = columns.word[static_cast<std::size_t>(j)]; word >= 0)
      for (Index i = 0; i < n; ++i)
        sums[static_cast<std::size_t>(word)] += static_cast<double>(weights.data()[i * m + j]) / static_cast<double>(n);
  return sums;
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
  struct Looks {
    double on_gold = 0, all = 0;  // weight
    double best = 0;              // the largest weight of a place,
    bool hit = false;             // and whether that is a gold one
  };
  std::map<Index, Looks> found;  // by the word that looks
  for (Index i = 0; i < n; ++i) {
    const auto links = looked_at.find(rows.word[static_cast<std::size_t>(i)]);
    if (links == looked_at.end()) continue;
    Looks& looks = found[links->first];
    for (Index j = 0; j < m; ++j) {
      const auto weight = static_cast<double>(weights.data()[i * m + j]);
      const bool gold_place = links->second.count(columns.word[static_cast<std::size_t>(j)]) > 0;
      looks.all += weight;
      if (gold_place) looks.on_gold += weight;
      if (weight > looks.best) looks.best = weight, looks.hit = gold_place;
    }
  }
  for (const auto& [row, looks] : found)
    result += {.share = looks.all > 0 ? looks.on_gold / looks.all : 0,
               .uniform = static_cast<double>(looked_at[row].size()) / static_cast<double>(columns.count),
               .hits = looks.hit ? 1.0 : 0.0,
               .rows = 1};
  return result;
}

GoldShare box_share(const Trace& trace, const std::vector<GoldBox>& gold) {
  GoldShare result;
  if (!trace.alignment || trace.column_axis().kind != Kind::image) return result;
  const TraceAxis& image = trace.column_axis();
  const WordsOfTokens rows = words_of_tokens(trace.row_axis().text);
  const Tensor weights = trace.alignment.contiguous();
  const Index m = weights.size(1);
  // The part of [place, place + 1) / count that lies in [low, high].
  const auto inside = [](Index place, Index count, double low, double high) {
    const double first = static_cast<double>(place), cells = static_cast<double>(count);
    return std::max(0.0, std::min(high * cells, first + 1) - std::max(low * cells, first));
  };
  for (const GoldBox& box : gold)
    for (std::size_t i = 0; i < rows.word.size(); ++i) {
      if (rows.word[i] != box.word) continue;
      const Real* row = weights.data() + static_cast<Index>(i) * m;
      double in_box = 0, all = 0;
      for (Index j = 0; j < m; ++j) {
        const double part = inside(j / image.columns, image.rows, box.top, box.bottom) *
                            inside(j % image.columns, image.columns, box.left, box.right);
        in_box += part * static_cast<double>(row[j]);
        all += static_cast<double>(row[j]);
      }
      const Index best = std::max_element(row, row + m) - row;
      const Index across = best % image.columns, down = best / image.columns;
      const double x = (static_cast<double>(across) + 0.5) / static_cast<double>(image.columns);
      const double y = (static_cast<double>(down) + 0.5) / static_cast<double>(image.rows);
      const bool hit = all > 0 && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
      result += {.share = all > 0 ? in_box / all : 0,
                 .uniform = (box.right - box.left) * (box.bottom - box.top),
                 .hits = hit ? 1.0 : 0.0,
                 .rows = 1};
    }
  return result;
}

}  // namespace heed
