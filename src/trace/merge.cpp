#include "heed/trace/merge.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "heed/base/error.h"

namespace heed {
namespace {

// How the tokens of one text become others: which of these each of them goes to, -1 if it goes.
struct Regrouping {
  std::vector<Index> place;
  std::vector<TraceToken> tokens;

  Index size() const { return static_cast<Index>(tokens.size()); }
};

Regrouping words_of(const TraceText& text) {
  Regrouping result;
  std::vector<Index> seen(text.words.size(), -1);  // place of each word
  for (const TraceToken& token : text.tokens) {
    if (token.word < 0) {
      result.place.push_back(result.size());
      result.tokens.push_back(token);
      continue;
    }
    Index& place = seen[static_cast<std::size_t>(token.word)];
    if (place < 0) {
      place = result.size();
      const TraceWord& word = text.words[static_cast<std::size_t>(token.word)];
      result.tokens.push_back({word.text, word.begin, word.end, token.word});
    }
    result.place.push_back(place);
  }
  return result;
}

Regrouping all_but_the_end(const TraceText& text) {
  Regrouping result;
  result.tokens = text.tokens;
  result.place.resize(text.tokens.size());
  std::iota(result.place.begin(), result.place.end(), Index{0});
  if (!text.tokens.empty() && text.tokens.back().word < 0) {
    result.tokens.pop_back();
    result.place.back() = -1;
  }
  return result;
}

// weights [n, m] or [heads, n, m].
Tensor regrouped(const Tensor& weights, const Regrouping& rows, const Regrouping& columns) {
  if (!weights || rows.size() == 0 || columns.size() == 0) return {};
  if (weights.rank() == 2) return merge_pieces(weights, rows.place, rows.size(), columns.place, columns.size());
  const Index heads = weights.size(0), n = weights.size(1), m = weights.size(2);
  Tensor result(Shape{heads, rows.size(), columns.size()});
  for (Index head = 0; head < heads; ++head) {
    const Tensor merged = regrouped(weights.slice(0, head, head + 1).reshape(Shape{n, m}), rows, columns);
    std::copy_n(merged.data(), merged.size(), result.data() + head * merged.size());
  }
  return result;
}

// The numbers of each group's tokens, added up or averaged.
std::vector<double> regrouped(const std::vector<double>& numbers, const Regrouping& rows, bool mean) {
  if (numbers.size() != rows.place.size()) return {};
  std::vector<double> sums(rows.tokens.size(), 0), counts(rows.tokens.size(), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (rows.place[i] >= 0) {
      sums[static_cast<std::size_t>(rows.place[i])] += numbers[i];
      ++counts[static_cast<std::size_t>(rows.place[i])];
    }
  for (std::size_t i = 0; mean && i < sums.size(); ++i) sums[i] /= counts[i];
  return sums;
}

Trace regrouped(const Trace& trace, const Regrouping& source, const Regrouping& target) {
  Trace result = trace;
  const auto side = [&](TraceSide which) -> const Regrouping& { return which == TraceSide::source ? source : target; };
  result.source.tokens = source.tokens;
  result.target.tokens = target.tokens;
  result.alignment = regrouped(trace.alignment, target, source);
  result.log_probabilities = regrouped(trace.log_probabilities, target, false);
  for (TraceAttention& each : result.attentions)
    each.weights = regrouped(each.weights, side(each.rows), side(each.columns));
  std::erase_if(result.attentions, [](const TraceAttention& each) { return !each.weights; });
  for (TraceTrust& trust : result.trust) trust.entropy = regrouped(trust.entropy, target, true);
  return result;
}

// A row of nothing stays so.
void rescale_rows(Tensor& weights) {
  if (!weights) return;
  weights = weights.copy();
  const Index columns = weights.size(-1);
  for (Real* row = weights.data(); row < weights.data() + weights.size(); row += columns) {
    const Real sum = std::accumulate(row, row + columns, Real{0});
    if (sum > 0) std::transform(row, row + columns, row, [sum](Real weight) { return weight / sum; });
  }
}

}  // namespace

Trace by_words(const Trace& trace) { return regrouped(trace, words_of(trace.source), words_of(trace.target)); }

Trace without_end(const Trace& trace, RowSums sums) {
  Trace result = regrouped(trace, all_but_the_end(trace.source), all_but_the_end(trace.target));
  if (sums == RowSums::rescaled_to_one) {
    rescale_rows(result.alignment);
    for (TraceAttention& each : result.attentions) rescale_rows(each.weights);
  }
  return result;
}

WordAlignment alignment_of(const Trace& trace) {
  const auto texts = [](const TraceText& text) {
    std::vector<std::string> words;
    for (const TraceToken& token : text.tokens) words.push_back(token.text);
    return words;
  };
  WordAlignment result{texts(trace.source), texts(trace.target), trace.alignment};
  // A sentence of nothing, without its end, has no weights.
  const Shape shape{static_cast<Index>(result.target.size()), static_cast<Index>(result.source.size())};
  if (!result.weights && shape.size() == 0) result.weights = Tensor(shape);
  require(result.weights.shape() == shape && (result.weights || shape.size() == 0),
          "[alignment] the model {} has no attention, so there is no alignment", trace.model);
  return result;
}

}  // namespace heed
