#include "heed/trace/word_alignment.h"

#include <algorithm>

#include "heed/data/word_links.h"

namespace heed {
namespace {

// The words that pieces make up.
std::vector<std::string> words_of(const Vocabulary& vocabulary, std::span<const std::int32_t> ids,
                                  const std::vector<Index>& word_of) {
  std::vector<std::string> words;
  for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    while (end < ids.size() && word_of[end] == word_of[begin]) ++end;
    words.push_back(vocabulary.decode(ids.subspan(begin, end - begin)));
  }
  return words;
}

}  // namespace

Tensor merge_pieces(const Tensor& weights, std::span<const Index> row_words, Index rows,
                    std::span<const Index> column_words, Index columns) {
  const Index n = static_cast<Index>(row_words.size()), m = static_cast<Index>(column_words.size());
  require((weights.shape() == Shape{n, m}), "[alignment] weights {} are not those of {} and {} pieces", weights.shape(),
          n, m);
  std::vector<Real> pieces(static_cast<std::size_t>(rows), Real{0});  // of each row's word
  for (const Index word : row_words)
    if (word >= 0) ++pieces[static_cast<std::size_t>(word)];
  Tensor merged(Shape{rows, columns}, Real{0});
  const Tensor plain = weights.contiguous();
  const Real* from = plain.data();
  for (const Index row : row_words)
    for (const Index column : column_words) {
      const Real weight = *from++;
      if (row >= 0 && column >= 0)
        merged.data()[row * columns + column] += weight / pieces[static_cast<std::size_t>(row)];
    }
  return merged;
}

WordAlignment align_words(const Vocabulary& source, std::span<const std::int32_t> source_ids, const Vocabulary& target,
                          std::span<const std::int32_t> target_ids, const Tensor& weights, bool unlinked_at_end) {
  const Index n = static_cast<Index>(target_ids.size()), m = static_cast<Index>(source_ids.size());
  require((weights.shape() == Shape{n + 1, m + 1}), "[alignment] weights {} are not those of {} and {} pieces",
          weights.shape(), n, m);
  std::vector<Index> source_words = source.word_of(source_ids), target_words = target.word_of(target_ids);
  WordAlignment result{words_of(source, source_ids, source_words), words_of(target, target_ids, target_words), {}};
  const auto columns = static_cast<Index>(result.source.size());
  source_words.push_back(columns);  // the end
  target_words.push_back(-1);
  const Tensor merged =
      merge_pieces(weights, target_words, static_cast<Index>(result.target.size()), source_words, columns + 1);
  result.weights = merged.slice(1, 0, columns).contiguous();
  if (unlinked_at_end) result.ends = merged.slice(1, columns, columns + 1).contiguous().reshape(Shape{merged.size(0)});
  return result;
}

std::string hard_alignment(const WordAlignment& alignment) {
  WordLinks links;
  const Index columns = alignment.weights.size(1);
  for (Index t = 0; columns > 0 && t < alignment.weights.size(0); ++t) {
    const Real* row = alignment.weights.data() + t * columns;
    const Real* const largest = std::max_element(row, row + columns);
    if (!alignment.ends || *largest >= alignment.ends.data()[t]) links.emplace_back(largest - row, t);
  }
  return word_links_text(links);
}

std::string soft_alignment(const WordAlignment& alignment) {
  std::string text;
  const Index columns = alignment.weights.size(1);
  for (Index t = 0; t < alignment.weights.size(0); ++t)
    for (Index s = 0; s < columns; ++s)
      text += fmt::format("{}{:.4g}", s > 0 ? "," : t > 0 ? " " : "", alignment.weights.data()[t * columns + s]);
  return text;
}

}  // namespace heed
