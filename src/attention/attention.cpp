#include "heed/attention/attention.h"

#include <algorithm>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

template <class Part>
const PartEntry<Part>& part_named(const char* kind, const std::string& name) {
  std::vector<std::string> known;
  for (const PartEntry<Part>& entry : PartRegistry<Part>::entries()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  fail("[attention] there is no {} {}{}", kind, name, did_you_mean(name, known));
}

template <class Part>
std::unique_ptr<Part> make_part(const char* kind, const std::string& name, const Scope& scope,
                                const AttentionOptions& options) {
  const PartEntry<Part>& entry = part_named<Part>(kind, name);
  require(entry.widths == Widths::any || options.query_width == options.key_width,
          "[{}] queries of width {} do not fit keys of width {}", name, options.query_width, options.key_width);
  return entry.make(scope / kind, options);
}

Var with_heads(const Var& x, const char* what) {
  require(x.rank() == 3 || x.rank() == 4,
          "[attention] {} have shape {}, not [batch, m, width] or [batch, heads, m, width]", what, x.shape());
  if (x.rank() == 4) return x;
  return reshape(x, Shape{x.size(0), 1, x.size(1), x.size(2)});
}

// `before` [batch, heads, m, width] and `more` [batch, heads, k, width] behind each other. Without a gradient, what is
// new is written into the room behind `before`, unless that is taken or none is left: then into a new one, half
// as long again. There may be more rows of `more` than of `before`.
Var grown(const Var& before, const Var& more, std::shared_ptr<GrowingRoom>& room) {
  if (recording() && (before.wants_gradient() || more.wants_gradient())) return concat({before, more}, 2);
  const Tensor& old = before.value();
  const Index m = old.size(2), size = m + more.size(2), rows = std::max(old.size(0), more.size(0));
  const bool own = room && room->whole.data() == old.data() && room->filled == m && size <= room->whole.size(2) &&
                   rows == old.size(0);
  if (!own) {
    constexpr Index kLeast = 16;  // more positions
    room = std::make_shared<GrowingRoom>(rows, old.size(1), size + std::max(kLeast, size / 2), old.size(3));
    room->put(old, 0);
  }
  room->put(more.value(), m);
  return Var(room->whole.slice(2, 0, size));
}

// The rows of x [stored, heads, n, width] that the batch's queries are: row i is query places[i] of shared[i].
Var rows_asked(const Var& x, const Ids& shared, const std::vector<Index>& places) {
  const Tensor from = x.value().contiguous();
  const Index heads = from.size(1), n = from.size(2), width = from.size(3);
  Tensor picked(Shape{shared.size(), heads, 1, width});
  for (Index i = 0; i < shared.size(); ++i)
    for (Index h = 0; h < heads; ++h)
      std::copy_n(from.data() + ((shared.data()[i] * heads + h) * n + places[static_cast<std::size_t>(i)]) * width,
                  width, picked.data() + (i * heads + h) * width);
  return Var(picked);
}

void check_past(const Past& past, const Memory& memory) {
  const auto check = [](const char* what, const Var& carried, const Shape& shape) {
    require(!carried || carried.shape() == shape, "[attention] the past {} {} do not fit this memory: {}", what,
            carried.shape(), shape);
  };
  const Shape weights{memory.batch(), memory.heads(), 1, memory.size()};
  check("weights", past.weights, weights);
  check("sums of weights", past.coverage, weights);
  check("reads", past.read, weights.with(-1, memory.values.size(-1)));
}

}  // namespace

Ids checked_lengths(const char* op, const Ids& lengths, Index batch, Index m) {
  if (!lengths) return Ids(Shape{batch}, static_cast<std::int32_t>(m));
  require((lengths.shape() == Shape{batch}), "[{}] lengths {} do not fit a batch of {}", op, lengths.shape(), batch);
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

const PartEntry<Score>& score_named(const std::string& name) { return part_named<Score>("score", name); }

void check_parts(const AttentionOptions& o) {
  part_named<Score>("score", o.score);
  part_named<Window>("window", o.window);
  part_named<Normaliser>("normaliser", o.normaliser);
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

Attention::Attention(const Scope& scope, const AttentionOptions& options) : options_(options) {
  check_parts(options);
  parts_ = std::make_shared<Parts>(Parts{make_part<Score>("score", options.score, scope, options),
                                         make_part<Window>("window", options.window, scope, options),
                                         make_part<Normaliser>("normaliser", options.normaliser, scope, options)});
}

Carries Attention::carries() const {
  Carries all;
  for (const Carries& part : {parts_->score->carries(), parts_->window->carries(), parts_->normaliser->carries()}) {
    all.weights |= part.weights;
    all.coverage |= part.coverage;
    all.read |= part.read;
  }
  return all;
}

bool Attention::reads_by_reference() const {
  const std::optional<FusedWindow> window = parts_->window->fused({});
  return parts_->normaliser->fused() && window && !window->rule.functors && parts_->score->plain_products();
}

bool Attention::asks_together() const {
  const std::optional<FusedWindow> window = parts_->window->fused({});
  const bool sees_all =
      window && !window->rule.functors && window->band.before == Band::kAll && window->band.after == Band::kAll;
  return sees_all && parts_->score->alone() && !carries().any();
}

Memory Attention::memory(const Var& keys, const Var& values, const Ids& lengths) const {
  Memory memory{with_heads(keys, "keys"), with_heads(values, "values"), {}, {}};
  require(memory.values.shape().leading(3) == memory.keys.shape().leading(3),
          "[attention] keys {} and values {} do not belong together", keys.shape(), values.shape());
  require(memory.size() > 0, "[attention] the memory is empty: keys {}", keys.shape());
  memory.lengths = checked_lengths("attention", lengths, memory.batch(), memory.size());
  memory.prepared = parts_->score->prepare(memory.keys, 0);
  memory.by_reference = reads_by_reference();
  memory.shares = !memory.by_reference && asks_together();
  return memory;
}

Memory Attention::extended(const Memory& memory, const Var& keys, const Var& values) const {
  if (!memory.keys) return this->memory(keys, values);
  if (memory.shared || (memory.rows && recording())) return extended(memory.gathered(), keys, values);
  const Var more_keys = with_heads(keys, "keys"), more_values = with_heads(values, "values");
  const Index m = memory.size(), more = more_keys.size(2);
  const auto continues = [&](const Var& x, const Var& behind) {
    return x.size(0) == memory.batch() && x.shape().with(2, m).with(0, behind.size(0)) == behind.shape();
  };
  require(continues(more_keys, memory.keys) && continues(more_values, memory.values) && more_values.size(2) == more,
          "[attention] keys {} and values {} do not continue keys {} and values {}", keys.shape(), values.shape(),
          memory.keys.shape(), memory.values.shape());
  for (const std::int32_t length : memory.lengths.values())
    require(length == m, "[attention] a memory of {} with a sentence of length {} cannot grow", m, length);
  // Rows that nobody reads any more stay behind where the memory has to move.
  const bool moves = !memory.rooms[0] || m + more > memory.rooms[0]->whole.size(2);
  if (memory.rows && moves && 2 * memory.batch() <= memory.keys.size(0))
    return extended(memory.gathered(), keys, values);
  Memory longer = memory;
  longer.lengths = Ids(Shape{memory.batch()}, static_cast<std::int32_t>(m + more));
  longer.keys = grown(memory.keys, more_keys, longer.rooms[0]);
  longer.values = grown(memory.values, more_values, longer.rooms[1]);
  longer.prepared = memory.keys_as_they_are()
                        ? longer.keys
                        : grown(memory.prepared, parts_->score->prepare(more_keys, m), longer.rooms[2]);
  if (!memory.rows) return longer;
  // What is new stands in its own row.
  longer.rows = Ids(Shape{memory.batch(), m + more});
  for (Index i = 0; i < memory.batch(); ++i) {
    std::int32_t* const row = longer.rows.data() + i * (m + more);
    std::copy_n(memory.rows.data() + i * m, m, row);
    std::fill_n(row + m, more, static_cast<std::int32_t>(i));
  }
  return longer;
}

Attention::Parts::Composed Attention::Parts::compose(const Query& query, const Memory& memory) const {
  const Index m = memory.size();
  const Var scores = (*score)(query, memory);
  const View view = (*window)(query, memory);
  const Mask padding = padding_mask(memory.lengths, m).reshape(Shape{memory.batch(), 1, 1, m});
  Weighted normalised = (*normaliser)(scores, both(both(padding, query.visible), view.visible), query);
  Var weights = view.gain ? normalised.weights * view.gain : normalised.weights;
  if (memory.gates) {
    const Var gates = slice(memory.gates, 1, query.position, query.position + query.count());
    weights = weights * reshape(gates, Shape{memory.batch(), 1, query.count(), m});
  }
  return {std::move(normalised), weights};
}

std::optional<Attended> Attention::fused(const Query& query, const Memory& memory) const {
  if (query.composed || query.visible || memory.gates || !parts_->normaliser->fused()) return std::nullopt;
  const std::optional<FusedWindow> window = parts_->window->fused(query);
  if (!window) return std::nullopt;
  const std::optional<FusedScore> score = parts_->score->fused(query, memory);
  if (!score) return std::nullopt;

  FusedOptions options;
  options.scale = score->scale;
  options.band = window->band;
  options.rule = joined(score->rule, window->rule);
  options.key_lengths.assign(memory.lengths.values().begin(), memory.lengths.values().end());
  const bool recorded = recording() && (score->queries.wants_gradient() || score->keys.wants_gradient() ||
                                        memory.values.wants_gradient());
  const bool step = query.count() == 1 && !query.whole && !recorded && !options.rule.functors;
  if (!step && (memory.rows || query.weights)) return std::nullopt;
  options.rows = memory.rows;
  options.weights = query.weights;
  FusedAttention result =
      step ? attend_one(score->queries.value(), score->keys.value(), memory.values.value(), std::move(options))
           : attend_fused(score->queries, score->keys, memory.values, std::move(options));
  Query again = query;
  again.past = nullptr;
  Attended attended;
  attended.read = result.read;
  if (step && query.weights) {
    attended.weights = Var(result.weights());
    return attended;
  }
  attended.weights = AttentionWeights(
      std::move(result), [parts = parts_, again, memory] { return parts->compose(again, memory.gathered()).weights; });
  return attended;
}

std::optional<Attended> Attention::together(const Query& query, const Memory& memory) const {
  const Index batch = memory.batch(), heads = memory.heads(), stored = memory.keys.size(0);
  if (!memory.shared || batch == 0 || query.count() != 1 || recording()) return std::nullopt;
  if (query.composed || query.visible || query.training || memory.gates) return std::nullopt;
  std::vector<Index> asking(static_cast<std::size_t>(stored), 0), places;
  for (const std::int32_t row : memory.shared.values()) places.push_back(asking[static_cast<std::size_t>(row)]++);
  const Index most = *std::max_element(asking.begin(), asking.end()), width = query.vectors.size(3);
  const Tensor from = query.vectors.value().contiguous();
  Tensor vectors(Shape{stored, heads, most, width}, Real{0});
  Memory own = memory;
  own.shared = {};
  own.lengths = Ids(Shape{stored}, 0);  // nobody asks
  for (Index i = 0; i < batch; ++i) {
    const Index row = memory.shared.data()[i];
    own.lengths.data()[row] = memory.lengths.data()[i];
    for (Index h = 0; h < heads; ++h)
      std::copy_n(from.data() + (i * heads + h) * width, width,
                  vectors.data() + ((row * heads + h) * most + places[static_cast<std::size_t>(i)]) * width);
  }
  Query all = query;
  all.vectors = Var(vectors);
  const auto [normalised, weights] = parts_->compose(all, own);
  if (normalised.log_probability) return std::nullopt;
  Attended result;
  const Var asked_weights = rows_asked(weights, memory.shared, places);
  result.sampled.weights = asked_weights;
  result.weights = asked_weights;
  result.read = rows_asked(matmul(weights, own.values), memory.shared, places);
  return result;
}

//   α = normalise(score(q, k) within the window) ∘ gain     read = α v
Attended Attention::operator()(const Query& asked, const Memory& memory) const {
  Query query = asked;
  query.vectors = with_heads(asked.vectors, "queries");
  require(query.vectors.size(0) == memory.batch() && query.vectors.size(1) == memory.heads(),
          "[attention] queries {} do not fit keys {}", query.vectors.shape(), memory.keys.shape());
  if (query.visible) {
    const Shape whole{memory.batch(), memory.heads(), query.count(), memory.size()};
    require(broadcast(query.visible.shape(), whole, "attention") == whole,
            "[attention] a mask of shape {} does not fit {}", query.visible.shape(), whole);
  }
  const Carries carried = carries();
  if (carried.any()) {
    const std::string& carrier = parts_->score->carries().any()    ? options_.score
                                 : parts_->window->carries().any() ? options_.window
                                                                   : options_.normaliser;
    require(query.count() == 1, "[attention] {} carries state from step to step and takes one query at a time, not {}",
            carrier, query.count());
    if (query.past) check_past(*query.past, memory);
  }
  if (std::optional<Attended> result = fused(query, memory)) return *std::move(result);
  if (std::optional<Attended> result = together(query, memory)) return *std::move(result);
  if (memory.rows || memory.shared) return (*this)(asked, memory.gathered());

  Attended result;
  const auto [normalised, weights] = parts_->compose(query, memory);
  result.sampled = normalised;
  result.weights = weights;
  result.read = parts_->score->reread(matmul(weights, memory.values), weights, query);
  if (carried.weights) result.past.weights = weights;
  if (carried.read) result.past.read = result.read;
  if (carried.coverage) {
    const bool later = query.past && query.past->coverage;
    result.past.coverage = later ? query.past->coverage + weights : weights;
  }
  return result;
}

}  // namespace heed
