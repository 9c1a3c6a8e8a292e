#include "heed/attention/attention.h"

#include <algorithm>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

template <class Part>
std::unique_ptr<Part> make_part(const char* kind, const std::string& name, const Scope& scope,
                                const AttentionOptions& options) {
  std::vector<std::string> known;
  for (const PartEntry<Part>& entry : PartRegistry<Part>::entries()) {
    if (entry.name == name) return entry.make(scope / kind, options);
    known.push_back(entry.name);
  }
  fail("[attention] there is no {} {}{}", kind, name, did_you_mean(name, known));
}

// Combinations whose parts contradict each other.
void check_combination(const AttentionOptions& o) {
  const bool self_score = o.score == "context" || o.score == "rows";
  const bool pairs_by_position = o.window == "causal" || o.window == "recent" || o.window == "local-m" ||
                                 o.window == "restricted" || o.window == "sliding";
  require(!(self_score && pairs_by_position),
          "[attention] score {} has no query positions, so window {} has nothing to compare them with", o.score,
          o.window);
  const bool steps_in_window = o.window == "local-p" || o.window == "median";
  require(!(self_score && (steps_in_window || o.normaliser == "monotonic")),
          "[attention] score {} asks nothing step by step, so {} does not apply", o.score,
          steps_in_window ? "window " + o.window : "normaliser monotonic");
  require(!(o.normaliser == "monotonic" && o.window == "local-p"),
          "[attention] monotonic weights are a scan over the memory; the gain of local-p would break their sum");
}

Var with_heads(const Var& x, const char* what) {
  require(x.rank() == 3 || x.rank() == 4,
          "[attention] {} have shape {}, not [batch, m, width] or [batch, heads, m, width]", what, x.shape().text());
  if (x.rank() == 4) return x;
  return reshape(x, Shape{x.size(0), 1, x.size(1), x.size(2)});
}

void check_past(const Past& past, const Memory& memory) {
  const auto check = [](const char* what, const Var& carried, const Shape& shape) {
    require(!carried || carried.shape() == shape, "[attention] the past {} {} do not fit this memory: {}", what,
            carried.shape().text(), shape.text());
  };
  const Shape weights{memory.batch(), memory.heads(), 1, memory.size()};
  check("weights", past.weights, weights);
  check("sums of weights", past.coverage, weights);
  check("reads", past.read, weights.with(-1, memory.values.size(-1)));
}

}  // namespace

Ids checked_lengths(const char* op, const Ids& lengths, Index batch, Index m) {
  if (!lengths) return Ids(Shape{batch}, static_cast<std::int32_t>(m));
  require((lengths.shape() == Shape{batch}), "[{}] lengths {} do not fit a batch of {}", op, lengths.shape().text(),
          batch);
  Ids in_order = lengths.contiguous();
  for (const std::int32_t length : in_order.values())
    require(length >= 0 && length <= m, "[{}] a length of {} is outside 0..{}", op, length, m);
  return in_order;
}

Mask padding_mask(const Ids& lengths, Index m) {
  Mask mask(Shape{lengths.size(), m});
  for (Index b = 0; b < lengths.size(); ++b)
    for (Index j = 0; j < m; ++j) mask.data()[b * m + j] = j < lengths.data()[b];
  return mask;
}

Mask both(const Mask& a, const Mask& b) {
  if (!a || !b) return a ? a : b;
  const Shape shape = broadcast(a.shape(), b.shape(), "mask");
  Mask result = a.expand(shape).copy();
  const Mask other = b.expand(shape).contiguous();
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = result.data()[i] && other.data()[i];
  return result;
}

Tensor as_numbers(const Mask& mask, const Shape& shape) {
  Tensor numbers(shape, Real{1});
  if (!mask) return numbers;
  const Mask wide = mask.expand(shape).contiguous();
  for (Index i = 0; i < wide.size(); ++i) numbers.data()[i] = wide.data()[i] ? Real{1} : Real{0};
  return numbers;
}

Attention::Attention(const Scope& scope, const AttentionOptions& options) : options_(options) {
  check_combination(options);
  score_ = make_part<Score>("score", options.score, scope, options);
  window_ = make_part<Window>("window", options.window, scope, options);
  normaliser_ = make_part<Normaliser>("normaliser", options.normaliser, scope, options);
}

Carries Attention::carries() const {
  Carries all;
  for (const Carries& part : {score_->carries(), window_->carries(), normaliser_->carries()}) {
    all.weights |= part.weights;
    all.coverage |= part.coverage;
    all.read |= part.read;
  }
  return all;
}

Memory Attention::memory(const Var& keys, const Var& values, const Ids& lengths) const {
  Memory memory{with_heads(keys, "keys"), with_heads(values, "values"), {}, {}};
  require(memory.values.shape().leading(3) == memory.keys.shape().leading(3),
          "[attention] keys {} and values {} do not belong together", keys.shape().text(), values.shape().text());
  require(memory.size() > 0, "[attention] the memory is empty: keys {}", keys.shape().text());
  memory.lengths = checked_lengths("attention", lengths, memory.batch(), memory.size());
  memory.prepared = score_->prepare(memory.keys);
  return memory;
}

//   e = score(q, k)     α = normalise(e within the window) ∘ gain     read = α v
Attended Attention::operator()(const Query& asked, const Memory& memory) const {
  Query query = asked;
  query.vectors = with_heads(asked.vectors, "queries");
  require(query.vectors.size(0) == memory.batch() && query.vectors.size(1) == memory.heads(),
          "[attention] queries {} do not fit keys {}", query.vectors.shape().text(), memory.keys.shape().text());
  const Carries carried = carries();
  if (carried.any()) {
    const std::string& carrier = score_->carries().any()    ? options_.score
                                 : window_->carries().any() ? options_.window
                                                            : options_.normaliser;
    require(query.count() == 1, "[attention] {} carries state from step to step and takes one query at a time, not {}",
            carrier, query.count());
    if (query.past) check_past(*query.past, memory);
  }

  const Var scores = (*score_)(query, memory);
  const View view = (*window_)(query, memory);
  const Index m = memory.size();
  const Mask padding = padding_mask(memory.lengths, m).reshape(Shape{memory.batch(), 1, 1, m});

  Attended result;
  result.sampled = (*normaliser_)(scores, both(padding, view.visible), query);
  result.weights = view.gain ? result.sampled.weights * view.gain : result.sampled.weights;
  result.read = score_->reread(matmul(result.weights, memory.values), result.weights, query);

  if (carried.weights) result.past.weights = result.weights;
  if (carried.read) result.past.read = result.read;
  if (carried.coverage) {
    const bool later = query.past && query.past->coverage;
    result.past.coverage = later ? query.past->coverage + result.weights : result.weights;
  }
  return result;
}

}  // namespace heed
