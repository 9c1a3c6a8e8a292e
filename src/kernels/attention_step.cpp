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

// scores[j] = scale q·k(j) for kKeys neighbours.
template <int kKeys>
HWY_INLINE void score_keys(Index width, const Real* query, const Real* key, Index row, Real scale, Real* scores) {
  V sums[kKeys];
  HWY_UNROLL(4)
  for (int j = 0; j < kKeys; ++j) sums[j] = set(0);
  for_each_vector(
      width,
      [&](Index c) HWY_ATTR {
        const V q = load(query + c);
        HWY_UNROLL(4)
        for (int j = 0; j < kKeys; ++j) sums[j] = hn::MulAdd(q, load(key + j * row + c), sums[j]);
      },
      [&](Index c, Index rest) HWY_ATTR {
        const V q = load_part(query + c, rest);
        HWY_UNROLL(4)
        for (int j = 0; j < kKeys; ++j) sums[j] = hn::MulAdd(q, load_part(key + j * row + c, rest), sums[j]);
      });
  HWY_UNROLL(4)
  for (int j = 0; j < kKeys; ++j) scores[j] = scale * sum_lanes(sums[j]);
}

// read[0 .. kVectors lanes) = Σ_j p(j) v(j), in two chains a vector.
template <int kVectors>
HWY_INLINE void read_values(Index count, const Real* weights, const Real* value, Index row, Real* read) {
  const Index n = lanes();
  V even[kVectors], odd[kVectors];
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) even[i] = odd[i] = set(0);
  Index j = 0;
  for (; j + 2 <= count; j += 2, value += 2 * row) {
    const V p = hn::Set(D(), weights[j]), q = hn::Set(D(), weights[j + 1]);
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) {
      even[i] = hn::MulAdd(p, load(value + i * n), even[i]);
      odd[i] = hn::MulAdd(q, load(value + row + i * n), odd[i]);
    }
  }
  if (j < count) {
    const V p = hn::Set(D(), weights[j]);
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) even[i] = hn::MulAdd(p, load(value + i * n), even[i]);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) store(hn::Add(even[i], odd[i]), read + i * n);
}

// Keys [0, count) of one block: partial = {largest score, Σ e^{s - largest}, Σ e^{s - largest} v}.
void step_block(const AttentionSize& s, Real scale, const Real* query, const Real* key, Index key_row,
                const Real* value, Index value_row, Index count, Real* partial) {
  HWY_ALIGN Real scores[kAttentionStepBlock];
  Index j = 0;
  for (; j + 4 <= count; j += 4) score_keys<4>(s.width, query, key + j * key_row, key_row, scale, scores + j);
  for (; j < count; ++j) score_keys<1>(s.width, query, key + j * key_row, key_row, scale, scores + j);
  const Index padded = whole(count, panel_width());
  std::fill(scores + count, scores + padded, kHidden);
  partial[0] = largest_of(padded, scores);
  partial[1] = exp_and_sum(padded, scores, partial[0] == kHidden ? Real{0} : partial[0]);
  Real* read = partial + 2;
  Index c = 0;
  for (const Index n = lanes(); c + n <= s.value_width;) {
    if (c + 4 * n <= s.value_width) {
      read_values<4>(count, scores, value + c, value_row, read + c);
      c += 4 * n;
    } else {
      read_values<1>(count, scores, value + c, value_row, read + c);
      c += n;
    }
  }
  for (; c < s.value_width; ++c) {
    Real sum = 0;
    for (Index k = 0; k < count; ++k) sum += scores[k] * value[k * value_row + c];
    read[c] = sum;
  }
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
      (s, in.scale, head_of(in.query, in.query_strides, batch, head),
       head_of(in.key, in.key_strides, batch, head) + at * in.key_strides.row, in.key_strides.row,
       head_of(in.value, in.value_strides, batch, head) + at * in.value_strides.row, in.value_strides.row, count,
       scratch + task * size);
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
    }
    if (out.log_sum) out.log_sum[at] = used > 0 ? top + std::log(sum) : top;
  }
}

}  // namespace heed::kernels
#endif
