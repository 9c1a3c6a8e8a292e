#include "heed/trace/merge.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "heed/base/error.h"

namespace heed {
namespace {

// How the places of one axis become those of another: which of these each of them goes to, -1 if it goes.
struct Regrouping {
  std::vector<Index> place;
  TraceAxis axis;  // as it becomes

  Index size() const { return axis.size(); }
};

Regrouping as_it_is(const TraceAxis& axis) {
  Regrouping result{std::vector<Index>(static_cast<std::size_t>(axis.size())), axis};
  std::iota(result.place.begin(), result.place.end(), Index{0});
  return result;
}

Regrouping words_of(const TraceAxis& axis) {
  const TraceText& text = axis.text;
  Regrouping result{{}, axis};
  std::vector<TraceToken>& tokens = result.axis.text.tokens;
  tokens.clear();
  std::vector<Index> seen(text.words.size(), -1);  // place of each word
  for (const TraceToken& token : text.tokens) {
    if (token.word < 0) {
      result.place.push_back(result.size());
      tokens.push_back(token);
      continue;
    }
    Index& place = seen[static_cast<std::size_t>(token.word)];
    if (place < 0) {
      place = result.size();
      const TraceWord& word = text.words[static_cast<std::size_t>(token.word)];
      tokens.push_back({word.text, word.begin, word.end, token.word});
    }
    result.place.push_back(place);
  }
  for (Index& end : result.axis.text.sentence_ends) end = result.place[static_cast<std::size_t>(end) - 1] + 1;
  return result;
}

bool has_end(const TraceAxis& axis) { return !axis.text.tokens.empty() && axis.text.tokens.back().word < 0; }

Regrouping all_but_the_end(const TraceAxis& axis) {
  Regrouping result = as_it_is(axis);
  if (has_end(axis)) {
    result.axis.text.tokens.pop_back();
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

// The numbers of each group's places, added up or averaged.
std::vector<double> regrouped(const std::vector<double>& numbers, const Regrouping& rows, bool mean) {
  if (numbers.size() != rows.place.size()) return {};
  const auto groups = static_cast<std::size_t>(rows.size());
  std::vector<double> sums(groups, 0), counts(groups, 0);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (rows.place[i] >= 0) {
      sums[static_cast<std::size_t>(rows.place[i])] += numbers[i];
      ++counts[static_cast<std::size_t>(rows.place[i])];
    }
  for (std::size_t i = 0; mean && i < sums.size(); ++i) sums[i] /= counts[i];
  return sums;
}

// The trace with each axis regrouped, and all that is about it.
template <class Regroup>
Trace regrouped(const Trace& trace, const Regroup& regroup) {
  std::map<std::string, Regrouping, std::less<>> axes;
  Trace result = trace;
  for (TraceAxis& each : result.axes) each = axes.emplace(each.name, regroup(each)).first->second.axis;
  const auto of = [&](const TraceAxis& axis) -> const Regrouping& { return axes.at(axis.name); };
  if (trace.alignment) result.alignment = regrouped(trace.alignment, of(trace.row_axis()), of(trace.column_axis()));
  if (!trace.log_probabilities.empty())
    result.log_probabilities = regrouped(trace.log_probabilities, of(trace.output()), false);
  if (!trace.copied.empty()) {
    result.generation_probabilities = regrouped(trace.generation_probabilities, of(trace.output()), true);
    result.copied = regrouped(trace.copied, of(trace.output()), true);
  }
  for (TraceAttention& each : result.attentions)
    each.weights = regrouped(each.weights, of(trace.axis(each.rows)), of(trace.axis(each.columns)));
  std::erase_if(result.attentions, [](const TraceAttention& each) { return !each.weights; });
  for (TraceTrust& trust : result.trust)
    if (!trust.entropy.empty()) trust.entropy = regrouped(trust.entropy, of(trace.row_axis()), true);
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

Trace by_words(const Trace& trace) {
  return regrouped(trace, [](const TraceAxis& axis) { return is_text(axis.kind) ? words_of(axis) : as_it_is(axis); });
}

Trace without_end(const Trace& trace, RowSums sums) {
  Trace result = regrouped(
      trace, [](const TraceAxis& axis) { return is_text(axis.kind) ? all_but_the_end(axis) : as_it_is(axis); });
  if (sums == RowSums::rescaled_to_one) {
    if (result.alignment && is_text(result.column_axis().kind)) rescale_rows(result.alignment);
    for (TraceAttention& each : result.attentions)
      if (is_text(result.axis(each.columns).kind)) rescale_rows(each.weights);
  }
  return result;
}

Trace with_joined_frames(const Trace& trace, Index most) {
  require(most > 0, "[trace] frames cannot be joined to {}", most);
  return regrouped(trace, [most](const TraceAxis& axis) {
    Regrouping result = as_it_is(axis);
    if (axis.kind != Kind::sound || axis.size() <= most) return result;
    const Index together = (axis.size() + most - 1) / most;
    for (Index& place : result.place) place /= together;
    result.axis.rows = (axis.size() + together - 1) / together, result.axis.columns = 1;
    result.axis.frames.step *= static_cast<double>(together);
    return result;
  });
}

WordAlignment alignment_of(const Trace& trace) {
  WordAlignment result{labels_of(trace.column_axis()), labels_of(trace.row_axis()), trace.alignment};
  // A sentence of nothing, without its end, has no weights.
  const Shape shape{static_cast<Index>(result.target.size()), static_cast<Index>(result.source.size())};
  if (!result.weights && shape.size() == 0) result.weights = Tensor(shape);
  require(result.weights.shape() == shape && (result.weights || shape.size() == 0),
          "[alignment] the model {} has no attention, so there is no alignment", trace.model);
  return result;
}

WordAlignment alignment_without_end(const Trace& trace) {
  WordAlignment result = alignment_of(without_end(trace));
  const TraceAxis& columns = trace.column_axis();
  const auto rows = static_cast<Index>(result.target.size());
  if (trace.unlinked_at_end && rows > 0 && has_end(columns))
    result.ends = trace.alignment.slice(0, 0, rows)
                      .slice(1, columns.size() - 1, columns.size())
                      .contiguous()
                      .reshape(Shape{rows});
  return result;
}

}  // namespace heed
