#include "heed/kernels/additive.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "heed/base/threads.h"
#include "heed/kernels/reduce.h"

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

// Calls body(index, std::integral_constant<int, 4 or 1>) for 0 .. count in fours and ones.
template <class Body>
HWY_INLINE void in_fours(Index count, const Body& body) {
  Index i = 0;
  for (; i + 4 <= count; i += 4) body(i, std::integral_constant<int, 4>());
  for (; i < count; ++i) body(i, std::integral_constant<int, 1>());
}

// out [count, width] = start + Σ_t factors(i, t) rows(t), of rows [terms, width]; factors of neighbours in i and in t
// are `across` and `along` apart. out may be start.
void add_combinations(Index count, Index width, Index terms, const Real* start, const Real* factors, Index across,
                      Index along, const Real* rows, Real* out) {
  in_fours(count, [&](Index first, auto together) HWY_ATTR {
    constexpr int kCount = decltype(together)::value;
    const auto columns = [&](Index c, const auto& read, const auto& write) HWY_ATTR {
      V sums[kCount];
      HWY_UNROLL(4)
      for (int i = 0; i < kCount; ++i) sums[i] = read(start + (first + i) * width + c);
      for (Index t = 0; t < terms; ++t) {
        const V row = read(rows + t * width + c);
        HWY_UNROLL(4)
        for (int i = 0; i < kCount; ++i)
          sums[i] = hn::MulAdd(hn::Set(D(), factors[(first + i) * across + t * along]), row, sums[i]);
      }
      HWY_UNROLL(4)
      for (int i = 0; i < kCount; ++i) write(sums[i], out + (first + i) * width + c);
    };
    for_each_vector(
        width,
        [&](Index c) HWY_ATTR {
          columns(
              c, [](const Real* x) HWY_ATTR { return load(x); }, [](V x, Real* to) HWY_ATTR { store(x, to); });
        },
        [&](Index c, Index rest) HWY_ATTR {
          columns(
              c, [rest](const Real* x) HWY_ATTR { return load_part(x, rest); },
              [rest](V x, Real* to) HWY_ATTR { store_part(x, to, rest); });
        });
  });
}

// rows [count, width] = k + f U.
void add_features(Index count, Index width, Index features, const Real* k, const Real* f, const Real* u, Real* rows) {
  add_combinations(count, width, features, k, f, features, 1, u, rows);
}

// df [count, features] = slopes Uᵀ and du [features, width] += fᵀ slopes, of slopes [count, width].
void add_feature_gradients(Index count, Index width, Index features, const Real* slopes, const Real* f, const Real* u,
                           Real* df, Real* du) {
  add_combinations(features, width, count, du, f, 1, features, slopes, du);
  in_fours(features, [&](Index first, auto together) HWY_ATTR {
    constexpr int kCount = decltype(together)::value;
    for (Index j = 0; j < count; ++j) {
      V sums[kCount];
      HWY_UNROLL(4)
      for (int t = 0; t < kCount; ++t) sums[t] = set(0);
      for_each_vector(
          width,
          [&](Index c) HWY_ATTR {
            const V slope = load(slopes + j * width + c);
            HWY_UNROLL(4)
            for (int t = 0; t < kCount; ++t) sums[t] = hn::MulAdd(slope, load(u + (first + t) * width + c), sums[t]);
          },
          [&](Index c, Index rest) HWY_ATTR {
            const V slope = load_part(slopes + j * width + c, rest);
            HWY_UNROLL(4)
            for (int t = 0; t < kCount; ++t)
              sums[t] = hn::MulAdd(slope, load_part(u + (first + t) * width + c, rest), sums[t]);
          });
      HWY_UNROLL(4)
      for (int t = 0; t < kCount; ++t) df[j * features + first + t] = sum_lanes(sums[t]);
    }
  });
}

// Items are numbered by pair, block of keys, query.
void score_items(Index begin, Index end, const AdditiveSize& size, const AdditiveInputs& in, Real* e) {
  const Index key_blocks = blocks(size.keys, kKeys), width = size.width;
  std::vector<Real> sums(static_cast<std::size_t>(size.features > 0 ? kKeys * width : 0));
  for (Index item = begin; item < end; ++item) {
    const Index i = item % size.queries, block = item / size.queries % key_blocks;
    const Index pair = item / size.queries / key_blocks;
    const Index first = block * kKeys, last = std::min(first + kKeys, size.keys);
    const Index seen = std::clamp(length_of(size, in, pair), first, last);
    const Real *q = in.q + (pair * size.queries + i) * width, *k = in.k + (pair * size.keys + first) * width;
    if (size.features > 0) {
      if (i == 0 || item == begin)
        add_features(seen - first, width, size.features, k, in.f + (pair * size.keys + first) * size.features, in.u,
                     sums.data());
      k = sums.data();
    }
    Real* row = e + (pair * size.queries + i) * size.keys;
    for (Index j = first; j < seen; ++j) row[j] = score(width, q, k + (j - first) * width, in.v);
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
      i == 0 && !out.adds ? add_all_slopes<true>(columns, width, seen, factors, at, to)
                          : add_all_slopes<false>(columns, width, seen, factors, at, to);
      transform(columns, dv, dv_pair, dv_pair, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    }
    for (Index j = size.queries == 0 ? 0 : seen; j < size.keys && !out.adds; ++j)
      std::fill_n(out.dk + (pair * size.keys + j) * width + first, columns, Real{0});
  }
}

// With features: items are pairs, whose keys pass in blocks with their sums and slopes beside them.
void featured_items(Index begin, Index end, const AdditiveSize& size, const AdditiveInputs& in, const Real* de,
                    const AdditiveGradients& out) {
  const Index width = size.width, features = size.features;
  std::vector<Real> sums(static_cast<std::size_t>(kKeys * width)), slopes(sums.size()),
      dv(static_cast<std::size_t>(width));
  const auto add = [](V a, V b) HWY_ATTR { return hn::Add(a, b); };
  for (Index pair = begin; pair < end; ++pair) {
    const Index seen = length_of(size, in, pair);
    Real *dq = out.dq + pair * size.queries * width, *dv_pair = out.dv_each + pair * width,
         *du = out.du_each + pair * features * width;
    std::fill_n(dq, size.queries * width, Real{0});
    std::fill_n(dv_pair, width, Real{0});
    std::fill_n(du, features * width, Real{0});
    for (Index first = 0; first < size.keys; first += kKeys) {
      const Index key = pair * size.keys + first, all = std::min(kKeys, size.keys - first),
                  count = std::clamp<Index>(seen - first, 0, size.queries == 0 ? 0 : all);
      const Real* f = in.f + key * features;
      Real *dk = out.dk + key * width, *df = out.df + key * features;
      add_features(count, width, features, in.k + key * width, f, in.u, sums.data());
      for (Index i = 0; i < size.queries; ++i) {
        const Index query = pair * size.queries + i;
        std::fill(dv.begin(), dv.end(), Real{0});
        const AdditiveInputs at{in.q + query * width, sums.data(), in.v, nullptr};
        const AdditiveGradients to{dq + i * width, slopes.data(), dv.data(), nullptr};
        const Real* factors = de + query * size.keys + first;
        i == 0 ? add_all_slopes<true>(width, width, count, factors, at, to)
               : add_all_slopes<false>(width, width, count, factors, at, to);
        transform(width, dv.data(), dv_pair, dv_pair, add);
      }
      add_feature_gradients(count, width, features, slopes.data(), f, in.u, df, du);
      if (out.adds)
        transform(count * width, slopes.data(), dk, dk, add);
      else
        std::copy_n(slopes.data(), count * width, dk);
      std::fill(df + count * features, df + all * features, Real{0});
      if (!out.adds) std::fill(dk + count * width, dk + all * width, Real{0});
    }
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
HWY_EXPORT(featured_items);

void additive_scores(const AdditiveSize& size, const AdditiveInputs& in, Real* e) {
  const Index items = size.pairs() * blocks(size.keys, kKeys) * size.queries;
  parallel_for(items, grain(kKeys * size.width), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(score_items)(begin, end, size, in, e);
  });
}

void additive_scores_backward(const AdditiveSize& size, const AdditiveInputs& in, const Real* de,
                              const AdditiveGradients& out) {
  const bool featured = size.features > 0;
  const Index columns = featured ? size.width : column_block(size);
  const Index items = size.pairs() * (featured ? 1 : blocks(size.width, columns));
  parallel_for(items, grain(size.queries * size.keys * columns), [&](Index begin, Index end) {
    if (featured)
      HWY_DYNAMIC_DISPATCH(featured_items)(begin, end, size, in, de, out);
    else
      HWY_DYNAMIC_DISPATCH(backward_items)(begin, end, size, in, de, out);
  });
  sum(1, size.pairs(), size.width, out.dv_each, out.dv);
  if (featured) sum(1, size.pairs(), size.features * size.width, out.du_each, out.du);
}

}  // namespace heed::kernels
#endif
