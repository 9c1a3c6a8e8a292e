#include <algorithm>
#include <cmath>

#include "heed/kernels/attention.h"
#include "heed/kernels/attention_work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_step.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/attention_tile-inl.h"

// Decoding: one query a head. The work is to read the cache once at the speed of the memory, so nothing is packed. The
// cache is cut into fixed blocks whose partial results (largest score, sum, read) are joined in order, whatever the
// number of threads.

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Keys or values of one head behind each other, and those that stand in many rows of the cache.
struct Together {
  const Real* data;
  Index row;
  const Real* operator()(Index j) const { return data + j * row; }
};
struct Scattered {
  const Real* data;
  Index row, batch;
  const std::int32_t* rows;
  const Real* operator()(Index j) const { return data + rows[j] * batch + j * row; }
};

// scores[j] = scale q·k(j) for kKeys keys from `first` on.
template <int kKeys, class Keys>
HWY_INLINE void score_keys(Index width, const Real* query, const Keys& keys, Index first, Real scale, Real* scores) {
  V sums[kKeys];
  const Real* key[kKeys];
  HWY_UNROLL(4)
  for (int j = 0; j < kKeys; ++j) sums[j] = set(0), key[j] = keys(first + j);
  for_each_vector(
      width,
      [&](Index c) HWY_ATTR {
        const V q = load(query + c);
        HWY_UNROLL(4)
        for (int j = 0; j < kKeys; ++j) sums[j] = hn::MulAdd(q, load(key[j] + c), sums[j]);
      },
      [&](Index c, Index rest) HWY_ATTR {
        const V q = load_part(query + c, rest);
        HWY_UNROLL(4)
        for (int j = 0; j < kKeys; ++j) sums[j] = hn::MulAdd(q, load_part(key[j] + c, rest), sums[j]);
      });
  HWY_UNROLL(4)
  for (int j = 0; j < kKeys; ++j) scores[first + j] = scale * sum_lanes(sums[j]);
}

// read[0 .. kVectors lanes) = Σ_j p(j) v(j)[c ..], in two chains a vector.
template <int kVectors, class Values>
HWY_INLINE void read_values(Index count, const Real* weights, const Values& values, Index c, Real* read) {
  const Index n = lanes();
  V even[kVectors], odd[kVectors];
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) even[i] = odd[i] = set(0);
  Index j = 0;
  for (; j + 2 <= count; j += 2) {
    const V p = hn::Set(D(), weights[j]), q = hn::Set(D(), weights[j + 1]);
    const Real *value = values(j) + c, *next = values(j + 1) + c;
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) {
      even[i] = hn::MulAdd(p, load(value + i * n), even[i]);
      odd[i] = hn::MulAdd(q, load(next + i * n), odd[i]);
    }
  }
  if (j < count) {
    const V p = hn::Set(D(), weights[j]);
    const Real* value = values(j) + c;
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) even[i] = hn::MulAdd(p, load(value + i * n), even[i]);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) store(hn::Add(even[i], odd[i]), read + c + i * n);
}

// Keys [0, count) of one block: partial = {largest score, Σ e^{s - largest}, Σ e^{s - largest} v}; the e^{s - largest}
// themselves to `weights` if there is room for them.
template <class Places>
HWY_INLINE void step_places(const AttentionSize& s, Real scale, const Real* query, const Places& keys,
                            const Places& values, Index count, Real* partial, Real* weights) {
  HWY_ALIGN Real scores[kAttentionStepBlock];
  Index j = 0;
  for (; j + 4 <= count; j += 4) score_keys<4>(s.width, query, keys, j, scale, scores);
  for (; j < count; ++j) score_keys<1>(s.width, query, keys, j, scale, scores);
  const Index padded = whole(count, panel_width());
  std::fill(scores + count, scores + padded, kHidden);
  partial[0] = largest_of(padded, scores);
  partial[1] = exp_and_sum(padded, scores, partial[0] == kHidden ? Real{0} : partial[0]);
  if (weights) std::copy_n(scores, count, weights);
  Real* read = partial + 2;
  Index c = 0;
  for (const Index n = lanes(); c + n <= s.value_width;) {
    if (c + 4 * n <= s.value_width) {
      read_values<4>(count, scores, values, c, read);
      c += 4 * n;
    } else {
      read_values<1>(count, scores, values, c, read);
      c += n;
    }
  }
  for (; c < s.value_width; ++c) {
    Real sum = 0;
    for (Index k = 0; k < count; ++k) sum += scores[k] * values(k)[c];
    read[c] = sum;
  }
}

// The block of keys from `at` on.
void step_block(const AttentionInput& in, Index batch, Index head, Index at, Index count, Real* partial,
                Real* weights) {
  const HeadStrides &k = in.key_strides, &v = in.value_strides;
  const Real* query = head_of(in.query, in.query_strides, batch, head);
  const Index row = in.rows.data ? 0 : batch;
  const Real *key = head_of(in.key, k, row, head) + at * k.row, *value = head_of(in.value, v, row, head) + at * v.row;
  if (!in.rows.data)
    return step_places<Together>(in.size, in.scale, query, {key, k.row}, {value, v.row}, count, partial, weights);
  const std::int32_t* const rows = in.rows.data + batch * in.rows.stride + at;
  step_places<Scattered>(in.size, in.scale, query, {key, k.row, k.batch, rows}, {value, v.row, v.batch, rows}, count,
                         partial, weights);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(step_block);

namespace {
Index step_blocks(Index keys) { return (keys + kAttentionStepBlock - 1) / kAttentionStepBlock; }
}  // namespace

Index attention_step_scratch(const AttentionSize& s) {
  return s.batch * s.heads * step_blocks(s.keys) * (s.value_width + 2);
}

void attention_step(const AttentionInput& in, const AttentionOutput& out, Real* scratch) {
  const AttentionSize& s = in.size;
  const Index blocks = step_blocks(s.keys), size = s.value_width + 2;
  const Index grain = std::max<Index>(1, 32768 / std::max<Index>(1, std::min(s.keys, kAttentionStepBlock) * s.width));
  parallel_for(s.batch * s.heads * blocks, grain, [&](Index begin, Index end) {
    for (Index task = begin; task < end; ++task) {
      const Index batch = task / blocks / s.heads, head = task / blocks % s.heads;
      const Index at = task % blocks * kAttentionStepBlock;
      const Index count = std::min(kAttentionStepBlock, key_count(in, batch) - at);
      if (count <= 0) continue;
      HWY_DYNAMIC_DISPATCH(step_block)
      (in, batch, head, at, count, scratch + task * size,
       out.weights ? out.weights + (batch * s.heads + head) * s.keys + at : nullptr);
    }
  });
  for (Index at = 0; at < s.batch * s.heads; ++at) {
    const Real* partial = scratch + at * blocks * size;
    const Index used = step_blocks(key_count(in, at / s.heads));
    Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (Index i = 0; i < used; ++i) top = std::max(top, partial[i * size]);
    Real* read = head_of(out.read, out.strides, at / s.heads, at % s.heads);
    std::fill_n(read, s.value_width, Real{0});
    for (Index i = 0; i < used; ++i) sum += partial[i * size + 1] * std::exp(partial[i * size] - top);
    for (Index i = 0; i < used; ++i) {
      const Real factor = std::exp(partial[i * size] - top) / sum;
      for (Index c = 0; c < s.value_width; ++c) read[c] += factor * partial[i * size + 2 + c];
      if (!out.weights) continue;
      Real* weights = out.weights + at * s.keys + i * kAttentionStepBlock;
      const Index count = std::min(kAttentionStepBlock, key_count(in, at / s.heads) - i * kAttentionStepBlock);
      for (Index j = 0; j < count; ++j) weights[j] *= factor;
    }
    if (out.weights)
      std::fill(out.weights + at * s.keys + key_count(in, at / s.heads), out.weights + (at + 1) * s.keys, Real{0});
    if (out.log_sum) out.log_sum[at] = used > 0 ? top + std::log(sum) : top;
  }
}

}  // namespace heed::kernels
#endif
