#include "heed/trace/pick.h"

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/trace/merge.h"

namespace heed {
namespace {

// "decoder.source" of "decoder.layer3.source": what a person calls the attentions of all layers.
std::string kind_of(const std::string& name) {
  const std::size_t at = name.find(".layer");
  if (at == std::string::npos) return name;
  const std::size_t end = std::min(name.find('.', at + 1), name.size());
  return name.substr(0, at) + name.substr(end);
}

// A number from 1 to `most`.
Index numbered(const std::string& text, Index most, const char* what, const std::string& name) {
  Index number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(fault == std::errc{} && end == text.data() + text.size(), "[explain] {} {}: it must be a number{}", what,
          text, std::string_view(what) == "head" ? ", mean, max or each" : " or mean");
  require(number >= 1 && number <= most, "[explain] there is no {} {} of {}, which has {}", what, text, name, most);
  return number;
}

// [n, m] of [heads, n, m].
Tensor one_of_heads(const TraceAttention& attention, const std::string& head) {
  const Tensor weights = attention.weights.contiguous();
  const Index heads = weights.size(0), n = weights.size(1), m = weights.size(2);
  if (!head.empty() && head != "mean" && head != "max") {
    const Index number = numbered(head, heads, "head", attention.name);
    return weights.slice(0, number - 1, number).reshape(Shape{n, m});
  }
  Tensor result(Shape{n, m}, Real{0});
  for (Index h = 0; h < heads; ++h)
    for (Index i = 0; i < n * m; ++i) {
      const Real weight = weights.data()[h * n * m + i];
      Real& to = result.data()[i];
      if (head == "max")
        to = h == 0 ? weight : std::max(to, weight);
      else
        to += weight / static_cast<Real>(heads);
    }
  return result;
}

// The heads of a label's look [heads, 1, m] one below another, and their mean: [heads + 1, m].
Tensor each_of_heads(const TraceAttention& attention) {
  require(attention.weights.size(1) == 1, "[explain] head each: it is for a label that looks; {} has {} rows",
          attention.name, attention.weights.size(1));
  const Tensor weights = attention.weights.contiguous(), mean = one_of_heads(attention, "mean");
  const Index heads = weights.size(0), m = weights.size(2);
  Tensor result(Shape{heads + 1, m});
  std::copy_n(weights.data(), heads * m, result.data());
  std::copy_n(mean.data(), m, result.data() + heads * m);
  return result;
}

TraceAxis axis_of_heads(Index heads) {
  TraceAxis axis{.name = "head", .kind = Kind::label};
  for (Index head = 1; head <= heads; ++head) axis.text.tokens.push_back({fmt::format("{}", head), 0, 0, -1});
  axis.text.tokens.push_back({"mean", 0, 0, -1});
  return axis;
}

Tensor mean_of(const std::vector<Tensor>& list) {
  Tensor result(list.front().shape(), Real{0});
  for (const Tensor& each : list)
    for (Index i = 0; i < result.size(); ++i) result.data()[i] += each.data()[i] / static_cast<Real>(list.size());
  return result;
}

// a [n, k] times b [k, m].
Tensor product(const Tensor& a, const Tensor& b) {
  const Index n = a.size(0), inner = a.size(1), m = b.size(1);
  Tensor result(Shape{n, m}, Real{0});
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < inner; ++k)
      for (Index j = 0; j < m; ++j) result.data()[i * m + j] += a.data()[i * inner + k] * b.data()[k * m + j];
  return result;
}

using Layers = std::vector<const TraceAttention*>;  // the first first

void sort_by_layer(Layers& layers) {
  std::stable_sort(layers.begin(), layers.end(), [](const auto* a, const auto* b) { return a->layer < b->layer; });
}

// The attentions of a name or kind, all between the same axes.
Layers all_named(const Trace& trace, const std::string& name) {
  Layers found;
  std::vector<std::string> known;
  for (const TraceAttention& each : trace.attentions) {
    if (each.name == name || kind_of(each.name) == name) found.push_back(&each);
    for (const std::string& own : {kind_of(each.name), each.name})
      if (std::find(known.begin(), known.end(), own) == known.end()) known.push_back(own);
  }
  require(!found.empty(), "[explain] there is no attention {}{}", name, did_you_mean(name, known));
  const TraceAttention& first = *found.front();
  for (const TraceAttention* each : found)
    require(each->rows == first.rows && each->columns == first.columns,
            "[explain] {} is from {} to {} in layer {} and from {} to {} in layer {}; name one of them", name,
            first.rows, first.columns, first.layer, each->rows, each->columns, each->layer);
  sort_by_layer(found);
  return found;
}

// The attentions from one axis to another, or to itself.
Layers all_between(const Trace& trace, const std::string& rows, const std::string& columns) {
  Layers found;
  for (const TraceAttention& each : trace.attentions)
    if (each.rows == rows && each.columns == columns) found.push_back(&each);
  require(!found.empty(), "[explain] the model {} has no attention from {} to {}", trace.model, rows, columns);
  sort_by_layer(found);
  return found;
}

// What kBothDirections names.
void pick_both_directions(const Trace& trace, const AttentionPick& pick, Trace& result) {
  require(pick.layer.empty() && pick.head.empty() && !pick.rollout,
          "[explain] {}: it has both directions, and no layer, head or rollout of its own", kBothDirections);
  const auto place_of = [&trace](const std::string& name) {
    return std::ranges::find(trace.axes, name, &TraceAxis::name) - trace.axes.begin();
  };
  const auto onto_first = std::ranges::find_if(trace.attentions, [&](const TraceAttention& each) {
    return place_of(each.columns) < place_of(each.rows) &&
           std::ranges::any_of(trace.attentions, [&each](const TraceAttention& other) {
             return other.rows == each.columns && other.columns == each.rows;
           });
  });
  require(onto_first != trace.attentions.end(), "[explain] {}: no two axes of the model {} look at each other",
          kBothDirections, trace.model);
  const Layers back = all_between(trace, onto_first->columns, onto_first->rows);
  const Tensor there = one_of_heads(*onto_first, "mean"), returned = one_of_heads(*back.front(), "mean");
  const Index n = there.size(0), m = there.size(1);
  result.alignment = Tensor(Shape{2 * n, m});
  std::copy_n(there.data(), n * m, result.alignment.data());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) result.alignment.data()[(n + i) * m + j] = returned.data()[j * n + i];
  TraceAxis both{.name = kBothDirections};
  for (const char* direction : {" →", " ←"})
    for (const std::string& label : labels_of(trace.axis(onto_first->rows)))
      both.text.tokens.push_back({label + direction, 0, 0, -1});
  result.rows = both.name, result.columns = onto_first->columns;
  result.axes.insert(result.axes.end() - 1, std::move(both));
}

// A decoder's attention to its own words is about the token before each; the begin, which has no column, has what is
// missing. Back to all that it reads: column 0 is the begin, column j token j - 1.
Tensor with_begin(const Tensor& weights) {
  const Index n = weights.size(0);
  Tensor result(weights.shape());
  for (Index t = 0; t < n; ++t) {
    const Real* from = weights.data() + t * n;
    Real* to = result.data() + t * n;
    std::copy_n(from, n - 1, to + 1);
    to[0] = Real{1};
    for (Index j = 1; j < n; ++j) to[0] -= to[j];
  }
  return result;
}
Tensor without_begin(const Tensor& weights) {
  const Index n = weights.size(0);
  Tensor result(weights.shape(), Real{0});
  for (Index t = 0; t < n; ++t) std::copy_n(weights.data() + t * n + 1, n - 1, result.data() + t * n);
  return result;
}

// Of self-attentions. That of the output is a decoder's.
Tensor rolled_out(const Trace& trace, const Layers& layers, const std::string& head) {
  const bool decoder = layers.front()->rows == trace.output().name;
  std::vector<Tensor> each;
  for (const TraceAttention* layer : layers) {
    const Tensor weights = one_of_heads(*layer, head);
    each.push_back(decoder ? with_begin(weights) : weights);
  }
  const Tensor all = attention_rollout(each);
  return decoder ? without_begin(all) : all;
}

}  // namespace

Tensor attention_rollout(std::span<const Tensor> layers) {
  require(!layers.empty(), "[rollout] there is no layer to roll out");
  Tensor result;
  for (const Tensor& layer : layers) {
    const Index n = layer.rank() == 2 ? layer.size(0) : -1;
    require((layer.shape() == Shape{n, n} && layer.shape() == layers.front().shape()),
            "[rollout] layers {} and {} are not squares of one size", layers.front().shape(), layer.shape());
    Tensor half(layer.shape());  // ½ (A + I)
    const Tensor plain = layer.contiguous();
    for (Index i = 0; i < n * n; ++i) half.data()[i] = (plain.data()[i] + (i % (n + 1) == 0 ? Real{1} : Real{0})) / 2;
    result = result ? product(half, result) : half;
  }
  return result;
}

Trace picked(const Trace& trace, const AttentionPick& pick) {
  const bool asked = !pick.attention.empty() || !pick.layer.empty() || !pick.head.empty();
  Trace result = trace;
  result.attentions.clear();
  if (!asked && !pick.rollout) return result;

  require(!trace.attentions.empty(), "[explain] the model {} has no attention", trace.model);
  result.rows = trace.row_axis().name, result.columns = trace.column_axis().name;
  if (pick.attention == kBothDirections) {
    pick_both_directions(trace, pick, result);
  } else if (asked) {
    Layers layers =
        pick.attention.empty() ? all_between(trace, result.rows, result.columns) : all_named(trace, pick.attention);
    const std::string name = pick.attention.empty() ? kind_of(layers.front()->name) : pick.attention;
    if (!pick.layer.empty() && pick.layer != "mean") {
      const Index number = numbered(pick.layer, layers.back()->layer, "layer", name);
      std::erase_if(layers, [number](const TraceAttention* each) { return each->layer != number; });
      require(!layers.empty(), "[explain] there is no layer {} of {}", number, name);
    }
    result.rows = layers.front()->rows, result.columns = layers.front()->columns;
    if (pick.head == "each") {
      require(layers.size() == 1, "[explain] head each: {} has {} layers; choose one", name, layers.size());
      result.alignment = each_of_heads(*layers.front());
      result.axes.insert(result.axes.end() - 1, axis_of_heads(result.alignment.size(0) - 1));
      result.rows = "head";
    } else if (result.rows == result.columns && pick.rollout) {
      result.alignment = rolled_out(trace, layers, pick.head);
    } else {
      std::vector<Tensor> each;
      each.reserve(layers.size());
      for (const TraceAttention* layer : layers) each.push_back(one_of_heads(*layer, pick.head));
      result.alignment = mean_of(each);
    }
  }
  if (pick.rollout && result.rows != result.columns) {
    require(static_cast<bool>(result.alignment), "[explain] the model {} has no attention", trace.model);
    const Layers below = all_between(trace, result.columns, result.columns);
    result.alignment = product(result.alignment.contiguous(), rolled_out(trace, below, "mean"));
  }
  result.trust.clear();  // it is about the alignment
  if (result.rows != trace.output().name) {
    result.log_probabilities.clear(), result.generation_probabilities.clear(), result.copied.clear();
    result.choices.clear(), result.beam.clear();
  }
  return result;
}

std::vector<HeadError> heads_by_error(std::span<const Trace> traces, std::span<const AlignmentLinks> gold) {
  require(traces.size() == gold.size() && !traces.empty(), "[explain] {} gold alignments for {} sentences", gold.size(),
          traces.size());
  std::vector<HeadError> heads;
  const Trace& first = traces.front();
  const std::string output = first.output().name, input = first.axes.front().name;
  for (const TraceAttention& each : first.attentions)
    if (each.rows == output && each.columns == input)
      for (Index head = 1; head <= each.weights.size(0); ++head) heads.push_back({each.name, head, 0});
  require(!heads.empty(), "[explain] the model {} has no attention to the {}", first.model, input);
  for (HeadError& head : heads) {
    AlignmentCounts counts;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const Trace one = without_end(
          by_words(picked(traces[i], {.attention = head.attention, .layer = "", .head = std::to_string(head.head)})));
      counts += compare_alignment(parse_alignment(hard_alignment(alignment_of(one))), gold[i]);
    }
    head.error = counts.error_rate();
  }
  std::stable_sort(heads.begin(), heads.end(),
                   [](const HeadError& a, const HeadError& b) { return a.error < b.error; });
  return heads;
}

}  // namespace heed
