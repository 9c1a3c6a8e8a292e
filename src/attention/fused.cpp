#include "heed/attention/fused.h"

#include <cmath>
#include <numeric>

#include "heed/base/threads.h"

namespace heed {
namespace {

using kernels::AttentionInput;
using kernels::HeadStrides;

// The kernels need neighbours in the last axis; the other axes may have any strides.
Tensor readable(const Tensor& x) { return x.size(-1) <= 1 || x.stride(-1) == 1 ? x : x.copy(); }
HeadStrides strides_of(const Tensor& x) { return {x.stride(0), x.stride(1), x.stride(2)}; }

// A tensor [B, H, rows, width] laid out as [B, rows, H, width] if `like` is.
Tensor laid_out_like(const Tensor& like, Index width) {
  const Index batch = like.size(0), heads = like.size(1), rows = like.size(2);
  if (like.stride(1) >= like.stride(2)) return Tensor(Shape{batch, heads, rows, width});
  return Tensor(Shape{batch, rows, heads, width}).transpose(1, 2);
}

void check_lengths(const std::vector<Index>& lengths, Index batch, Index longest, const char* what) {
  require(lengths.empty() || static_cast<Index>(lengths.size()) == batch,
          "[fused_attention] {} {} lengths for a batch of {}", lengths.size(), what, batch);
  for (const Index length : lengths)
    require(length >= 0 && length <= longest, "[fused_attention] {} length {} is outside 0..{}", what, length, longest);
}

AttentionInput input_of(const Tensor& q, const Tensor& k, const Tensor& v, const FusedOptions& options) {
  const Index width = q.size(3);
  AttentionInput in{{q.size(0), q.size(1), q.size(2), k.size(2), width, v.size(3)},
                    q.data(),
                    k.data(),
                    v.data(),
                    strides_of(q),
                    strides_of(k),
                    strides_of(v)};
  in.scale = options.scale.value_or(1 / std::sqrt(static_cast<Real>(std::max<Index>(width, 1))));
  if (!options.key_lengths.empty()) in.key_lengths = options.key_lengths.data();
  if (!options.query_lengths.empty()) in.query_lengths = options.query_lengths.data();
  in.band = options.band;
  in.rule = options.rule.calls;
  in.key_block = options.key_block;
  return in;
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const FusedOptions& options) {
  for (const Tensor* x : {&q, &k, &v})
    require(x->rank() == 4, "[fused_attention] needs [batch, heads, positions, width], not {}", x->shape());
  require((options.rows || q.size(0) == k.size(0)) && k.size(0) == v.size(0) && q.size(1) == k.size(1) &&
              q.size(1) == v.size(1),
          "[fused_attention] batch and heads differ: queries {}, keys {}, values {}", q.shape(), k.shape(), v.shape());
  require(q.size(3) == k.size(3), "[fused_attention] queries are {} wide, keys {}", q.size(3), k.size(3));
  require(k.size(2) == v.size(2), "[fused_attention] {} keys for {} values", k.size(2), v.size(2));
  if (options.rows) {
    require((options.rows.shape() == Shape{q.size(0), k.size(2)}),
            "[fused_attention] rows {} do not fit {} queries and {} keys", options.rows.shape(), q.size(0), k.size(2));
    for (const std::int32_t row : options.rows.values())
      require(row >= 0 && row < k.size(0), "[fused_attention] there is no row {} of {}", row, k.size(0));
  }
  require(options.key_block > 0, "[fused_attention] the key block must be positive, not {}", options.key_block);
  require(options.band.before > -Band::kAll && options.band.after > -Band::kAll && options.band.before <= Band::kAll &&
              options.band.after <= Band::kAll,
          "[fused_attention] the band from {} before to {} after is out of range", options.band.before,
          options.band.after);
  check_lengths(options.key_lengths, q.size(0), k.size(2), "key");
  check_lengths(options.query_lengths, q.size(0), q.size(2), "query");
}

// Working memory for every thread.
struct Scratch {
  Tensor memory;
  kernels::AttentionScratch view;
  explicit Scratch(Index each) : memory(Shape{thread_count(), each}), view{memory.data(), thread_count()} {}
};

// The keys as the kernels of weights take them. They do not look at the values.
Tensor in_own_rows(const Tensor& key, const FusedOptions& options) {
  return options.rows ? gathered_cache(key, options.rows) : key;
}

std::vector<Index> all_if_empty(std::vector<Index> list, Index count, const char* what) {
  for (const Index i : list)
    require(i >= 0 && i < count, "[fused_attention] {} {} is outside 0..{}", what, i, count - 1);
  if (!list.empty()) return list;
  list.resize(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), Index{0});
  return list;
}

}  // namespace

Band restricted(Index r) {
  require(r > 0, "[fused_attention] restricted attention needs r > 0, not {}", r);
  return {r / 2, r / 2};
}

Band shifted(Band band, Index position) {
  const auto by = [](Index reach, Index change) { return reach == Band::kAll ? reach : reach + change; };
  return {by(band.before, -position), by(band.after, position)};
}

ScoreRule joined(const ScoreRule& score, const ScoreRule& window) {
  if (!window.functors) return score;
  if (!score.functors) return window;
  struct Both {
    ScoreRule score, window;
    static const Both& of(const void* context) { return *static_cast<const Both*>(context); }
  };
  const auto both = std::make_shared<const Both>(Both{score, window});
  kernels::ScoreRule calls;
  calls.context = both.get();
  if (score.calls.apply)
    calls.apply = [](const void* context, const kernels::ScoreTile& tile, Real* scores) {
      const kernels::ScoreRule& own = Both::of(context).score.calls;
      own.apply(own.context, tile, scores);
    };
  if (score.calls.slope)
    calls.slope = [](const void* context, const kernels::ScoreTile& tile, const Real* raw, Real* slopes) {
      const kernels::ScoreRule& own = Both::of(context).score.calls;
      own.slope(own.context, tile, raw, slopes);
    };
  if (window.calls.hide)
    calls.hide = [](const void* context, const kernels::ScoreTile& tile, Real* scores) {
      const kernels::ScoreRule& own = Both::of(context).window.calls;
      own.hide(own.context, tile, scores);
    };
  if (window.calls.range)
    calls.range = [](const void* context, Index batch, Index head, Index first, Index last, kernels::KeyRange within) {
      const kernels::ScoreRule& own = Both::of(context).window.calls;
      return own.range(own.context, batch, head, first, last, within);
    };
  return {calls, both};
}

FusedAttention attend_fused(const Var& q, const Var& k, const Var& v, FusedOptions given) {
  require(!given.rows, "[fused_attention] only a step takes rows of a cache");
  check(q.value(), k.value(), v.value(), given);
  FusedAttention result;
  const Tensor query = result.query_ = readable(q.value());
  const Tensor key = result.key_ = readable(k.value());
  const Tensor value = result.value_ = readable(v.value());
  const auto options = result.options_ = std::make_shared<const FusedOptions>(std::move(given));
  const AttentionInput in = input_of(query, key, value, *options);

  Tensor read = laid_out_like(query, v.size(3));
  Tensor log_sum = result.log_sum = Tensor(q.shape().leading(3));
  kernels::attention(in, {read.data(), strides_of(read), log_sum.data()}, Scratch(attention_scratch(in)).view);

  result.read = record(
      "fused_attention", read, {q, k, v}, [query, key, value, read, log_sum, options](const Tensor& dy, Wanted wanted) {
        const AttentionInput input = input_of(query, key, value, *options);
        Tensor dq, dk, dv;
        if (wanted(0)) dq = Tensor(query.shape());
        if (wanted(1) || wanted(2)) dk = Tensor(key.shape()), dv = Tensor(value.shape());
        const Tensor dread = readable(dy);
        kernels::AttentionGradients g{read.data(), dread.data(), strides_of(read), strides_of(dread), log_sum.data(),
                                      dq.data(),   dk.data(),    dv.data(),        strides_of(query), {},
                                      {}};
        g.query_strides = strides_of(dq), g.key_strides = strides_of(dk), g.value_strides = strides_of(dv);
        kernels::attention_backward(input, g, Scratch(attention_backward_scratch(input)).view);
        return grads(std::move(dq), wanted(1) ? dk : Tensor(), wanted(2) ? dv : Tensor());
      });
  return result;
}

Tensor gathered_cache(const Tensor& x, const Ids& rows) {
  const Index batch = rows.size(0), heads = x.size(1), m = x.size(2), width = x.size(3);
  Tensor result(Shape{batch, heads, m, width});
  for (Index i = 0; i < batch; ++i)
    for (Index h = 0; h < heads; ++h)
      for (Index j = 0; j < m; ++j)
        std::copy_n(x.data() + rows.data()[i * m + j] * x.stride(0) + h * x.stride(1) + j * x.stride(2), width,
                    result.data() + ((i * heads + h) * m + j) * width);
  return result;
}

Tensor FusedAttention::weights(const std::vector<Index>& rows, const std::vector<Index>& heads) const {
  if (kept_ && heads.empty()) {
    all_if_empty(rows, 1, "row");
    return kept_;
  }
  const Tensor key = in_own_rows(key_, *options_);
  const AttentionInput in = input_of(query_, key, value_, *options_);
  const std::vector<Index> asked_rows = all_if_empty(rows, in.size.queries, "row"),
                           asked_heads = all_if_empty(heads, in.size.heads, "head");
  const Index row_count = static_cast<Index>(asked_rows.size()), head_count = static_cast<Index>(asked_heads.size());
  Tensor result(Shape{in.size.batch, head_count, row_count, in.size.keys});
  kernels::attention_rows(in, log_sum.data(), {asked_heads.data(), asked_rows.data(), head_count, row_count},
                          result.data(), Scratch(attention_scratch(in)).view);
  return result;
}

FusedAttention::Summaries FusedAttention::summaries(Index top_count) const {
  const Tensor key = in_own_rows(key_, *options_);
  const AttentionInput in = input_of(query_, key, value_, *options_);
  require(top_count >= 1 && top_count <= std::max<Index>(in.size.keys, 1),
          "[fused_attention] the top {} of {} keys does not exist", top_count, in.size.keys);
  const Shape rows = log_sum.shape();
  Summaries result{Tensor(rows), Tensor(rows.append(top_count)), TensorOf<Index>(rows.append(top_count)),
                   Tensor(rows.with(-1, in.size.keys))};
  kernels::attention_summaries(
      in, log_sum.data(),
      {result.entropy.data(), result.top.data(), result.top_keys.data(), top_count, result.column_sums.data()},
      Scratch(attention_scratch(in)).view);
  return result;
}

// The keys of the band are a view of the cache; the weights are rebuilt over all of it.
FusedAttention attend_one(const Tensor& q, const Tensor& k, const Tensor& v, FusedOptions given) {
  check(q, k, v, given);
  require(q.size(2) == 1, "[attend_step] takes one query, not {}", q.size(2));
  require(!given.rule.functors, "[attend_step] takes no rule");
  FusedAttention result;
  const Tensor query = result.query_ = readable(q);
  const Tensor key = result.key_ = readable(k);
  const Tensor value = result.value_ = readable(v);
  const Index m = key.size(2), begin = std::clamp<Index>(-given.band.before, 0, m),
              end = std::clamp<Index>(given.band.after + 1, begin, m);
  FusedOptions seen = given;
  for (Index& length : seen.key_lengths) length = std::clamp<Index>(length - begin, 0, end - begin);
  result.options_ = std::make_shared<const FusedOptions>(std::move(given));

  AttentionInput in = input_of(query, key.slice(2, begin, end), value.slice(2, begin, end), seen);
  if (seen.rows) in.rows = {seen.rows.data() + begin, m};
  Tensor read = laid_out_like(query, v.size(3));
  result.log_sum = Tensor(q.shape().leading(3));
  if (seen.weights && end - begin == m) result.kept_ = Tensor(result.weights_shape());
  Tensor scratch(Shape{kernels::attention_step_scratch(in.size)});
  kernels::attention_step(in, {read.data(), strides_of(read), result.log_sum.data(), result.kept_.data()},
                          scratch.data());
  result.read = Var(read);
  return result;
}

Tensor attend_step(const Tensor& q, const Tensor& k, const Tensor& v, const FusedOptions& options) {
  return attend_one(q, k, v, options).read.value();
}

}  // namespace heed
