#include "heed/kernels/additive.h"

#include <algorithm>

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/additive.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

#ifndef HEED_KERNELS_ADDITIVE_BLOCKS_
#define HEED_KERNELS_ADDITIVE_BLOCKS_
namespace heed::kernels {
namespace {
constexpr Index kKeys = 16;    // a block of keys stays in the cache while the queries pass
constexpr Index kWidth = 512;  // columns a pass of backward takes at most
constexpr Index kAhead = 512;  // elements to fetch early: the processor itself does not look beyond a page

// Backward is separate for each column: with few pairs, blocks of columns give the threads enough to share.
Index column_block(const AdditiveSize& size) { return size.pairs() >= 16 ? kWidth : 64; }
Index blocks(Index size, Index block) { return (size + block - 1) / block; }
Index length_of(const AdditiveSize& size, const AdditiveInputs& in, Index pair) {
  return in.lengths ? in.lengths[pair / size.heads] : size.keys;
}
}  // namespace
}  // namespace heed::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

HWY_INLINE Real score(Index width, const Real* q, const Real* k, const Real* v) {
  V sum = set(0);
  for_each_vector(
      width,
      [&](Index c) HWY_ATTR {
        __builtin_prefetch(k + c + kAhead);
        sum = hn::MulAdd(load(v + c), tanh(hn::Add(load(q + c), load(k + c))), sum);
      },
      [&](Index c, Index rest) HWY_ATTR {
        const V t = tanh(hn::Add(load_part(q + c, rest), load_part(k + c, rest)));
        sum = hn::MulAdd(load_part(v + c, rest), t, sum);
      });
  return sum_lanes(sum);
}

// Items are numbered by pair, block of keys, query.
void score_items(Index begin, Index end, const AdditiveSize& size, const AdditiveInputs& in, Real* e) {
  const Index key_blocks = blocks(size.keys, kKeys), width = size.width;
  for (Index item = begin; item < end; ++item) {
    const Index i = item % size.queries, block = item / size.queries % key_blocks;
    const Index pair = item / size.queries / key_blocks;
    const Index first = block * kKeys, last = std::min(first + kKeys, size.keys);
    const Index seen = std::clamp(length_of(size, in, pair), first, last);
    const Real *q = in.q + (pair * size.queries + i) * width, *k = in.k + pair * size.keys * width;
    Real* row = e + (pair * size.queries + i) * size.keys;
    for (Index j = first; j < seen; ++j) row[j] = score(width, q, k + j * width, in.v);
    std::fill(row + seen, row + last, Real{0});
  }
}

// What one query and `kCount` keys add to the gradients in some columns; dk is written by the first query. The rows of
// at.k and to.dk are `stride` apart.
template <bool kFirst, int kCount>
HWY_INLINE void add_slopes(Index columns, Index stride, const Real* de, const AdditiveInputs& at,
                           const AdditiveGradients& to) {
  const Index ahead = std::max(kAhead, kCount * stride);
  const auto slope = [&](V t, V factor, V v) HWY_ATTR {
    const V g = hn::Mul(factor, v);
    return hn::NegMulAdd(hn::Mul(g, t), t, g);
  };
  for_each_vector(
      columns,
      [&](Index c) HWY_ATTR {
        const V q = load(at.q + c), v = load(at.v + c);
        V dq = load(to.dq + c), dv = load(to.dv + c);
        for (int key = 0; key < kCount; ++key) {
          const Real* k = at.k + key * stride + c;
          Real* dk = to.dk + key * stride + c;
          __builtin_prefetch(k + ahead), __builtin_prefetch(dk + ahead, 1);
          const V factor = hn::Set(D(), de[key]), t = tanh(hn::Add(q, load(k))), s = slope(t, factor, v);
          dq = hn::Add(dq, s);
          dv = hn::MulAdd(factor, t, dv);
          store(kFirst ? s : hn::Add(load(dk), s), dk);
        }
        store(dq, to.dq + c), store(dv, to.dv + c);
      },
      [&](Index c, Index rest) HWY_ATTR {
        const V q = load_part(at.q + c, rest), v = load_part(at.v + c, rest);
        V dq = load_part(to.dq + c, rest), dv = load_part(to.dv + c, rest);
        for (int key = 0; key < kCount; ++key) {
          const Real* k = at.k + key * stride + c;
          Real* dk = to.dk + key * stride + c;
          const V factor = hn::Set(D(), de[key]), t = tanh(hn::Add(q, load_part(k, rest))), s = slope(t, factor, v);
          dq = hn::Add(dq, s);
          dv = hn::MulAdd(factor, t, dv);
          store_part(kFirst ? s : hn::Add(load_part(dk, rest), s), dk, rest);
        }
        store_part(dq, to.dq + c, rest), store_part(dv, to.dv + c, rest);
      });
}

// The same for all keys of the query.
template <bool kFirst>
HWY_INLINE void add_all_slopes(Index columns, Index stride, Index keys, const Real* de, AdditiveInputs at,
                               AdditiveGradients to) {
  constexpr int kTogether = 2;  // fewer loads and stores of dq and dv
  Index j = 0;
  for (; j + kTogether <= keys; j += kTogether, at.k += kTogether * stride, to.dk += kTogether * stride)
    add_slopes<kFirst, kTogether>(columns, stride, de + j, at, to);
  for (; j < keys; ++j, at.k += stride, to.dk += stride) add_slopes<kFirst, 1>(columns, stride, de + j, at, to);
}

// Items are numbered by pair, block of columns.
void backward_items(Index begin, Index end, const AdditiveSize& size, const AdditiveInputs& in, const Real* de,
                    const AdditiveGradients& out) {
  const Index width = size.width, block = column_block(size), column_blocks = blocks(width, block);
  for (Index item = begin; item < end; ++item) {
    const Index pair = item / column_blocks, first = item % column_blocks * block;
    const Index columns = std::min(block, width - first), seen = length_of(size, in, pair);
    Real* dv_pair = out.dv_each + pair * width + first;
    std::fill_n(dv_pair, columns, Real{0});
    for (Index i = 0; i < size.queries; ++i) {
      const Index query = pair * size.queries + i;
      // Each query sums on its own first: a long sum of small terms would lose digits.
      HWY_ALIGN Real dv[kWidth] = {};
      Real* dq = out.dq + query * width + first;
      std::fill_n(dq, columns, Real{0});
      const Index key = pair * size.keys * width + first;
      const AdditiveInputs at{in.q + query * width + first, in.k + key, in.v + first, nullptr};
      const AdditiveGradients to{dq, out.dk + key, dv, nullptr};
      const Real* factors = de + query * size.keys;
      i == 0 ? add_all_slopes<true>(columns, width, seen, factors, at, to)
             : add_all_slopes<false>(columns, width, seen, factors, at, to);
      transform(columns, dv, dv_pair, dv_pair, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    }
    for (Index j = size.queries == 0 ? 0 : seen; j < size.keys; ++j)
      std::fill_n(out.dk + (pair * size.keys + j) * width + first, columns, Real{0});
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {
// Items a thread should have at least, each with `work` tanh to compute.
Index grain(Index work) { return std::max<Index>(1, 8 * 1024 / std::max<Index>(work, 1)); }
}  // namespace

HWY_EXPORT(score_items);
HWY_EXPORT(backward_items);

void additive_scores(const AdditiveSize& size, const AdditiveInputs& in, Real* e) {
  const Index items = size.pairs() * blocks(size.keys, kKeys) * size.queries;
  parallel_for(items, grain(kKeys * size.width), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(score_items)(begin, end, size, in, e);
  });
}

void additive_scores_backward(const AdditiveSize& size, const AdditiveInputs& in, const Real* de,
                              const AdditiveGradients& out) {
  const Index items = size.pairs() * blocks(size.width, column_block(size));
  parallel_for(items, grain(size.queries * size.keys * column_block(size)), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(backward_items)(begin, end, size, in, de, out);
  });
  std::fill_n(out.dv, size.width, Real{0});
  for (Index pair = 0; pair < size.pairs(); ++pair)
    for (Index c = 0; c < size.width; ++c) out.dv[c] += out.dv_each[pair * size.width + c];
}

}  // namespace heed::kernels
#endif
