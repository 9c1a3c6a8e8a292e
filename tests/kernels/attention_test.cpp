#include "heed/kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/ref/attention.h"
#include "heed/tensor/memory.h"

namespace heed::kernels {
namespace {

constexpr Real kHidden = -std::numeric_limits<Real>::infinity();

std::vector<Real> normals(Index size, std::uint64_t seed) {
  std::vector<Real> values(static_cast<std::size_t>(size));
  RandomSequence random(RandomKey{seed, 11});
  for (Real& x : values) x = static_cast<Real>(random.normal());
  return values;
}

struct Scratch {
  memory::Buffer buffer;
  AttentionScratch scratch;
  Scratch(Index each, Index slots)
      : buffer(static_cast<std::size_t>(each * slots) * sizeof(Real)),
        scratch{static_cast<Real*>(buffer.data()), slots} {}
};

// A rule with everything in it: a curved score, a mask that empties some rows, a range.
const ScoreRule kCurved{
    nullptr,
    [](const void*, const ScoreTile& t, Real* s) {
      for (Index r = 0; r < t.rows; ++r)
        for (Index c = 0; c < t.columns; ++c)
          s[r * t.stride + c] =
              std::tanh(s[r * t.stride + c]) - Real(0.05) * std::abs(t.query + r - t.key - c) + t.head;
    },
    [](const void*, const ScoreTile& t, const Real* raw, Real* slopes) {
      for (Index r = 0; r < t.rows; ++r)
        for (Index c = 0; c < t.columns; ++c) {
          const Real y = std::tanh(raw[r * t.stride + c]);
          slopes[r * t.stride + c] = 1 - y * y;
        }
    },
    [](const void*, const ScoreTile& t, Real* s) {
      for (Index r = 0; r < t.rows; ++r)
        for (Index c = 0; c < t.columns; ++c)
          if ((t.query + r) % 5 == 3 || (t.query + r + t.key + c) % 3 == 0 || t.key + c > t.query + r + 40)
            s[r * t.stride + c] = kHidden;
    },
    [](const void*, Index, Index, Index, Index last, KeyRange) {
      return KeyRange{0, last + 41};
    }};

struct Example {
  AttentionSize size;
  std::vector<Index> key_lengths, query_lengths;
  Band band;
  ScoreRule rule;
  Index key_block = 512;
  bool heads_inside = false;  // [B, n, H, d] instead of [B, H, n, d]
};

struct Case {
  Example e;
  std::vector<Real> q, k, v, dread;
  AttentionInput in;
  HeadStrides query, key, value, read;

  explicit Case(Example example, std::uint64_t seed = 1) : e(std::move(example)) {
    const AttentionSize& s = e.size;
    q = normals(s.batch * s.heads * s.queries * s.width, seed);
    k = normals(s.batch * s.heads * s.keys * s.width, seed + 1);
    v = normals(s.batch * s.heads * s.keys * s.value_width, seed + 2);
    dread = normals(s.batch * s.heads * s.queries * s.value_width, seed + 3);
    query = strides(s.queries, s.width), key = strides(s.keys, s.width);
    value = strides(s.keys, s.value_width), read = strides(s.queries, s.value_width);
    in = {s, q.data(), k.data(), v.data(), query, key, value, Real(0.4), nullptr, nullptr, e.band, e.rule, e.key_block};
    if (!e.key_lengths.empty()) in.key_lengths = e.key_lengths.data();
    if (!e.query_lengths.empty()) in.query_lengths = e.query_lengths.data();
  }
  HeadStrides strides(Index rows, Index width) const {
    const Index all = rows * width * e.size.heads;
    return e.heads_inside ? HeadStrides{all, width, width * e.size.heads} : HeadStrides{all, rows * width, width};
  }
};

struct Results {
  std::vector<Real> read, log_sum, dq, dk, dv;
  explicit Results(const Case& c)
      : read(c.dread.size(), 7),
        log_sum(static_cast<std::size_t>(c.e.size.batch * c.e.size.heads * c.e.size.queries), 7),
        dq(c.q.size(), 7),
        dk(c.k.size(), 7),
        dv(c.v.size(), 7) {}
  AttentionOutput output(const Case& c) { return {read.data(), c.read, log_sum.data()}; }
  AttentionGradients gradients(const Case& c) {
    return {read.data(), c.dread.data(), c.read,  c.read, log_sum.data(), dq.data(),
            dk.data(),   dv.data(),      c.query, c.key,  c.value};
  }
  bool operator==(const Results&) const = default;
};

Results fast(const Case& c, Index slots = 1) {
  Results r(c);
  const Scratch forward(attention_scratch(c.in), slots), backward(attention_backward_scratch(c.in), slots);
  attention(c.in, r.output(c), forward.scratch);
  attention_backward(c.in, r.gradients(c), backward.scratch);
  return r;
}

std::vector<Real> dense(const Case& c, Results& r) {
  std::vector<Real> weights(r.log_sum.size() * static_cast<std::size_t>(c.e.size.keys));
  ref::attention_weights(c.in, weights.data(), r.log_sum.data());
  ref::attention_read(c.in, weights.data(), r.output(c));
  ref::attention_backward(c.in, weights.data(), r.gradients(c));
  return weights;
}

void expect_numbers_near(const std::vector<Real>& got, const std::vector<Real>& expected, Real tolerance,
                         const char* what) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (expected[i] == kHidden) {
      ASSERT_EQ(got[i], kHidden) << what << " " << i;
    } else {
      ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << what << " " << i;
    }
  }
}

std::vector<Example> examples() {
  std::vector<Example> list;
  for (const bool inside : {false, true}) {
    list.push_back({{1, 1, 1, 1, 1, 1}, {}, {}, {}, {}, 512, inside});
    list.push_back({{2, 3, 13, 70, 8, 5}, {70, 33}, {13, 4}, {}, {}, 32, inside});
    list.push_back({{1, 2, 61, 100, 33, 37}, {}, {}, {Band::kAll, 0}, {}, 64, inside});
    list.push_back({{2, 2, 50, 131, 16, 64}, {97, 0}, {}, {9, 20}, {}, 64, inside});
    list.push_back({{2, 2, 75, 66, 20, 24}, {66, 1}, {0, 75}, {}, kCurved, 32, inside});
    list.push_back({{1, 2, 100, 130, 64, 64}, {}, {}, {Band::kAll, 3}, kCurved, 512, inside});
  }
  list.push_back({{2, 2, 0, 5, 4, 4}, {}, {}, {}, {}, 512, false});
  list.push_back({{2, 2, 5, 0, 4, 4}, {}, {}, {}, {}, 512, false});
  list.push_back({{0, 2, 5, 3, 4, 4}, {}, {}, {}, {}, 512, false});
  for (Index n = 1; n <= 40; n += 3) list.push_back({{1, 1, n, 41 - n, n, 42 - n}, {}, {}, {}, {}, 32, false});
  return list;
}

TEST(AttentionKernels, AgreeWithTheScalarTwinsOnEveryTarget) {
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    int number = 0;
    for (const Example& example : examples()) {
      SCOPED_TRACE(target + " example " + std::to_string(number++));
      const Case c(example);
      Results expected(c);
      dense(c, expected);
      const Results got = fast(c);
      expect_numbers_near(got.read, expected.read, 4e-6f, "read");
      expect_numbers_near(got.log_sum, expected.log_sum, 4e-6f, "log-sum");
      expect_numbers_near(got.dq, expected.dq, 2e-5f, "dq");
      expect_numbers_near(got.dk, expected.dk, 2e-5f, "dk");
      expect_numbers_near(got.dv, expected.dv, 2e-5f, "dv");
    }
    use_simd_target("");
  }
}

TEST(AttentionKernels, RowsAndSummariesAreThoseOfTheDenseWeights) {
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    int number = 0;
    for (const Example& example : examples()) {
      SCOPED_TRACE(target + " example " + std::to_string(number++));
      const Case c(example);
      const AttentionSize& s = c.e.size;
      if (s.queries == 0) continue;
      Results expected(c);
      const std::vector<Real> p = dense(c, expected);
      const Scratch scratch(attention_scratch(c.in), 1);
      const std::vector<Index> rows = {s.queries - 1, 0, s.queries / 2}, heads = {s.heads - 1};
      std::vector<Real> weights(static_cast<std::size_t>(s.batch * 3 * s.keys), 7);
      attention_rows(c.in, expected.log_sum.data(), {heads.data(), rows.data(), 1, 3}, weights.data(), scratch.scratch);

      constexpr Index kTop = 3;
      const std::size_t all = expected.log_sum.size();
      std::vector<Real> entropy(all, 7), top(all * kTop, 7),
          columns(static_cast<std::size_t>(s.batch * s.heads * s.keys), 7);
      std::vector<Index> keys(all * kTop, 7);
      attention_summaries(c.in, expected.log_sum.data(),
                          {entropy.data(), top.data(), keys.data(), kTop, columns.data()}, scratch.scratch);
      for (Index b = 0; b < s.batch; ++b) {
        for (Index r = 0; r < 3; ++r)
          for (Index j = 0; j < s.keys; ++j)
            ASSERT_NEAR(weights[static_cast<std::size_t>((b * 3 + r) * s.keys + j)],
                        p[static_cast<std::size_t>(
                            ((b * s.heads + heads[0]) * s.queries + rows[static_cast<std::size_t>(r)]) * s.keys + j)],
                        4e-6);
      }
      std::vector<double> sums(columns.size(), 0);
      for (std::size_t row = 0; row < all; ++row) {
        const Real* w = p.data() + row * static_cast<std::size_t>(s.keys);
        double h = 0;
        Index visible = 0;
        for (Index j = 0; j < s.keys; ++j) {
          if (w[j] > 0) h -= double(w[j]) * std::log(double(w[j])), ++visible;
          sums[row / static_cast<std::size_t>(s.queries) * static_cast<std::size_t>(s.keys) +
               static_cast<std::size_t>(j)] += double(w[j]);
        }
        ASSERT_NEAR(entropy[row], h, 2e-5);
        std::vector<Real> sorted(w, w + s.keys);
        std::sort(sorted.rbegin(), sorted.rend());
        for (Index i = 0; i < kTop; ++i) {
          const std::size_t at = row * kTop + static_cast<std::size_t>(i);
          if (i >= visible) {
            ASSERT_EQ(keys[at], -1);
            ASSERT_EQ(top[at], 0);
          } else {
            ASSERT_NEAR(top[at], sorted[static_cast<std::size_t>(i)], 4e-6);
            ASSERT_NEAR(w[keys[at]], top[at], 4e-6);
          }
        }
      }
      for (std::size_t j = 0; j < columns.size(); ++j) ASSERT_NEAR(columns[j], sums[j], 2e-5);
    }
    use_simd_target("");
  }
}

TEST(AttentionKernels, AStepIsTheLastRow) {
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    use_simd_target(target);
    for (const Index keys : {0, 1, 3, 31, 64, 511, 512, 513, 1100})
      for (const Index width : {1, 7, 64, 100}) {
        const Case c({{2, 2, 1, keys, width, 65 - width / 2}, {keys, keys / 2}, {}, {}, {}, 512, false});
        Results expected(c), got(c);
        dense(c, expected);
        std::vector<Real> scratch(static_cast<std::size_t>(attention_step_scratch(c.e.size)));
        attention_step(c.in, got.output(c), scratch.data());
        expect_numbers_near(got.read, expected.read, 4e-6f, "read");
        expect_numbers_near(got.log_sum, expected.log_sum, 4e-6f, "log-sum");
      }
    use_simd_target("");
  }
}

// Keys and values that stand in other rows of a cache give the same bits as in their own, and the weights are the
// softmax of the scores.
TEST(AttentionKernels, AStepReadsACacheInAnyRows) {
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    use_simd_target(target);
    for (const Index keys : {1, 5, 64, 600}) {
      const Case c({{3, 2, 1, keys, 20, 24}, {keys, (keys + 1) / 2, keys}, {}, {}, {}, 512, false});
      const AttentionSize& s = c.e.size;
      Results own(c), other(c);
      std::vector<Real> scratch(static_cast<std::size_t>(attention_step_scratch(s)));
      std::vector<Real> weights(static_cast<std::size_t>(s.batch * s.heads * keys)), others = weights;
      AttentionOutput out = own.output(c);
      out.weights = weights.data();
      attention_step(c.in, out, scratch.data());

      // Position j of row b moves to row (b + j) % 3.
      AttentionInput moved = c.in;
      const auto scattered = [&](const Real* from, const HeadStrides& at, Index width) {
        std::vector<Real> to(static_cast<std::size_t>(s.batch * s.heads * keys * width));
        for (Index b = 0; b < s.batch; ++b)
          for (Index h = 0; h < s.heads; ++h)
            for (Index j = 0; j < keys; ++j)
              std::copy_n(from + b * at.batch + h * at.head + j * at.row, width,
                          to.data() + (((b + j) % 3 * s.heads + h) * keys + j) * width);
        return to;
      };
      const std::vector<Real> key = scattered(c.in.key, c.in.key_strides, s.width),
                              value = scattered(c.in.value, c.in.value_strides, s.value_width);
      moved.key = key.data(), moved.key_strides = {s.heads * keys * s.width, keys * s.width, s.width};
      moved.value = value.data();
      moved.value_strides = {s.heads * keys * s.value_width, keys * s.value_width, s.value_width};
      std::vector<std::int32_t> rows;
      for (Index b = 0; b < s.batch; ++b)
        for (Index j = 0; j < keys; ++j) rows.push_back(static_cast<std::int32_t>((b + j) % 3));
      moved.rows = {rows.data(), keys};
      out = other.output(c);
      out.weights = others.data();
      attention_step(moved, out, scratch.data());
      EXPECT_EQ(own.read, other.read);
      EXPECT_EQ(own.log_sum, other.log_sum);
      EXPECT_EQ(weights, others);

      for (Index row = 0; row < s.batch * s.heads; ++row) {
        const Index b = row / s.heads, h = row % s.heads, seen = c.in.key_lengths[b];
        for (Index j = 0; j < keys; ++j) {
          double score = 0;
          for (Index i = 0; i < s.width; ++i)
            score +=
                static_cast<double>(c.in.query[b * c.in.query_strides.batch + h * c.in.query_strides.head + i]) *
                static_cast<double>(
                    c.in.key[b * c.in.key_strides.batch + h * c.in.key_strides.head + j * c.in.key_strides.row + i]);
          const double log_sum = static_cast<double>(own.log_sum[static_cast<std::size_t>(row)]);
          const double expected = j < seen ? std::exp(static_cast<double>(c.in.scale) * score - log_sum) : 0;
          EXPECT_NEAR(static_cast<double>(weights[static_cast<std::size_t>(row * keys + j)]), expected, 4e-6) << j;
        }
      }
    }
    use_simd_target("");
  }
}

TEST(AttentionKernels, DoNotDependOnThreads) {
  const int before = thread_count();
  const Example some[] = {{{1, 1, 200, 300, 16, 24}, {}, {}, {Band::kAll, 0}, {}, 64, false},  // backward in two passes
                          {{2, 2, 130, 90, 16, 24}, {90, 50}, {}, {}, kCurved, 32, true}};
  for (const Example& example : some) {
    const Case c(example);
    set_thread_count(1);
    const Results one = fast(c, 1);
    for (const int threads : {2, 3, 7}) {
      set_thread_count(threads);
      EXPECT_TRUE(fast(c, threads) == one) << threads;
    }
  }
  set_thread_count(before);
}

// A sentence alone and the same one among others, padded further: the same bits.
TEST(AttentionKernels, DoNotDependOnTheBatch) {
  const Case alone({{1, 2, 45, 77, 20, 24}, {77}, {45}, {30, 50}, {}, 64, false});
  const Results one = fast(alone);
  Case batch({{3, 2, 64, 201, 20, 24}, {201, 77, 5}, {64, 45, 60}, {30, 50}, {}, 64, false}, 50);
  const auto insert = [](const std::vector<Real>& from, Index rows, std::vector<Real>& to, Index to_rows, Index width) {
    for (Index h = 0; h < 2; ++h)
      std::copy_n(from.begin() + h * rows * width, rows * width, to.begin() + (2 + h) * to_rows * width);
  };
  insert(alone.q, 45, batch.q, 64, 20), insert(alone.k, 77, batch.k, 201, 20);
  insert(alone.v, 77, batch.v, 201, 24), insert(alone.dread, 45, batch.dread, 64, 24);
  const Results all = fast(batch);
  const auto expect_same = [](const std::vector<Real>& small, Index rows, const std::vector<Real>& large,
                              Index large_rows, Index width) {
    for (Index h = 0; h < 2; ++h)
      for (Index i = 0; i < large_rows * width; ++i) {
        const Real got = large[static_cast<std::size_t>((2 + h) * large_rows * width + i)];
        if (i < rows * width) {
          ASSERT_EQ(got, small[static_cast<std::size_t>(h * rows * width + i)]);
        } else {
          ASSERT_EQ(got, 0);
        }
      }
  };
  expect_same(one.read, 45, all.read, 64, 24), expect_same(one.dq, 45, all.dq, 64, 20);
  expect_same(one.dk, 77, all.dk, 201, 20), expect_same(one.dv, 77, all.dv, 201, 24);
}

// Padding may hold anything, also NaN; a wide band is no band, to the bit; scores may be huge.
TEST(AttentionKernels, Edges) {
  Case c({{1, 1, 20, 90, 8, 8}, {50}, {11}, {}, {}, 32, false});
  const Results clean = fast(c);
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  std::fill(c.k.begin() + 50 * 8, c.k.end(), nan), std::fill(c.v.begin() + 50 * 8, c.v.end(), nan);
  std::fill(c.q.begin() + 11 * 8, c.q.end(), nan), std::fill(c.dread.begin() + 11 * 8, c.dread.end(), nan);
  EXPECT_TRUE(fast(c) == clean);
  c.in.band = {89, 89};
  EXPECT_TRUE(fast(c) == clean);

  for (Real& x : c.q) x *= 1000;
  const Results huge = fast(c);
  for (std::size_t i = 0; i < 11 * 8; ++i) ASSERT_TRUE(std::isfinite(huge.read[i]));

  c.in.band = {0, 0};  // width one: a row reads its own value
  const Results own = fast(c);
  for (std::size_t i = 0; i < 11 * 8; ++i) ASSERT_EQ(own.read[i], c.v[i]);
}

TEST(AttentionKernels, NaNIsNotHiddenByTheSoftmax) {
  Case c({{1, 1, 3, 40, 4, 4}, {}, {}, {}, {}, 32, false});
  c.k[5 * 4] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_TRUE(std::isnan(fast(c).read[0]));
}

}  // namespace
}  // namespace heed::kernels
