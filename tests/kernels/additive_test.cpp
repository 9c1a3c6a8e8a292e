#include "heed/kernels/ref/additive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/kernel_testing.h"

namespace heed::kernels {
namespace {

using namespace heed::test;

// Inputs and outputs in guarded memory.
struct Work {
  AdditiveSize size;
  Buffer q, k, v, de;
  Guarded<std::int32_t> lengths;
  Buffer e, dq, dk, dv, dv_each, f, u, df, du, du_each;

  Work(const AdditiveSize& sizes, Place place, const std::vector<std::int32_t>& until = {})
      : size(sizes),
        q(normal_values(size.pairs() * size.queries * size.width, 1), place),
        k(normal_values(size.pairs() * size.keys * size.width, 2, 2), place),
        v(normal_values(size.width, 3), place),
        de(normal_values(size.pairs() * size.queries * size.keys, 4), place),
        lengths(until, place),
        e(de.size(), place),
        dq(q.size(), place),
        dk(k.size(), place),
        dv(size.width, place),
        dv_each(size.pairs() * size.width, place),
        f(normal_values(size.pairs() * size.keys * size.features, 5), place),
        u(normal_values(size.features * size.width, 6), place),
        df(f.size(), place),
        du(u.size(), place),
        du_each(size.pairs() * u.size(), place) {}
  AdditiveInputs inputs() const {
    return {q.data(), k.data(), v.data(), lengths.size() > 0 ? lengths.data() : nullptr, f.data(), u.data()};
  }
  AdditiveGradients gradients() const {
    return {dq.data(), dk.data(), dv.data(), dv_each.data(), false, df.data(), du.data(), du_each.data()};
  }
  Index seen(Index pair) const { return lengths.size() > 0 ? lengths[pair / size.heads] : size.keys; }

  void run() {
    additive_scores(size, inputs(), e.data());
    additive_scores_backward(size, inputs(), de.data(), gradients());
  }
  void run_twin() {
    ref::additive_scores(size, inputs(), e.data());
    ref::additive_scores_backward(size, inputs(), de.data(), gradients());
  }
};

// Each sum against what its terms could be at most: Σ |v|, Σ |de v|, Σ |de|. A term is off by tanh's error and that of
// the rounded q + k (up to 8 here), the sum by a rounding a step.
void expect_matches(const Work& got, const Work& want) {
  const AdditiveSize& size = got.size;
  const double width = static_cast<double>(size.width), keys = static_cast<double>(size.keys),
               queries = static_cast<double>(size.queries), pairs = static_cast<double>(size.pairs());
  double weights = 0, slopes = 0;
  for (const Real v : got.v.values()) weights += std::abs(v);
  for (const Real d : got.de.values()) slopes = std::max<double>(slopes, std::abs(d));
  const auto column = [&](Index i) { return std::abs(got.v[i % size.width]); };
  expect_close(got.e.values(), want.e.values(), 16 + width / 4, [&](Index) { return weights; });
  expect_close(got.dq.values(), want.dq.values(), 24 + keys, [&](Index i) { return slopes * keys * column(i); });
  expect_close(got.dk.values(), want.dk.values(), 24 + queries, [&](Index i) { return slopes * queries * column(i); });
  double map = 0;
  for (const Real x : got.u.values()) map = std::max<double>(map, std::abs(x));
  expect_close(got.df.values(), want.df.values(), 24 + queries + width,
               [&](Index) { return slopes * queries * weights * map; });
  double values = 0;
  for (const Real x : got.f.values()) values = std::max<double>(values, std::abs(x));
  expect_close(got.du.values(), want.du.values(), 24 + queries + keys + pairs,
               [&](Index i) { return slopes * queries * keys * pairs * values * column(i); });
  const double terms = 24 + keys + queries;
  expect_close(got.dv_each.values(), want.dv_each.values(), terms, [&](Index) { return slopes * keys * queries; });
  expect_close(got.dv.values(), want.dv.values(), terms + pairs,
               [&](Index) { return slopes * keys * queries * pairs; });
}

void expect_matches_its_twin(const AdditiveSize& size, const std::vector<std::int32_t>& lengths = {}) {
  SCOPED_TRACE(testing::Message() << size.batch << " x " << size.heads << ", " << size.queries << " queries, "
                                  << size.keys << " keys, width " << size.width);
  for (const Place place : kPlaces) {
    Work got(size, place, lengths), want(size, place, lengths);
    got.run();
    want.run_twin();
    expect_matches(got, want);
  }
}

TEST(Additive, MatchesItsTwinAtEveryWidth) {
  on_every_target([] {
    for (const Index width : awkward_lengths()) {
      expect_matches_its_twin({2, 1, 2, 3, width}, {3, 2});
      expect_matches_its_twin({2, 1, 2, 3, width, 3}, {3, 2});
    }
  });
}

TEST(Additive, MatchesItsTwinAtAnyCount) {
  on_every_target([] {
    for (const Index keys : {0, 1, 2, 15, 16, 17, 33})
      for (const Index queries : {0, 1, 2, 5}) {
        expect_matches_its_twin({1, 1, queries, keys, 19});
        const auto most = static_cast<std::int32_t>(keys);
        expect_matches_its_twin({3, 2, queries, keys, 70}, {most, most / 2, 0});
        expect_matches_its_twin({3, 2, queries, keys, 70, 2}, {most, most / 2, 0});
      }
    expect_matches_its_twin({0, 1, 2, 3, 5});
    expect_matches_its_twin({20, 1, 1, 3, 600});  // enough pairs for wide blocks of columns, and more than one of them
  });
}

// Two calls of which the second adds are one with twice the gradient; what is added to stays beyond a length.
TEST(Additive, KeysGradientsAddUp) {
  on_every_target([] {
    const AdditiveSize size{2, 1, 2, 5, 37};
    Work got(size, Place::at_fence, {5, 2}), want(size, Place::at_fence, {5, 2});
    got.run();
    AdditiveGradients again = got.gradients();
    again.adds = true;
    additive_scores_backward(size, got.inputs(), got.de.data(), again);
    want.run_twin();
    again = want.gradients();
    again.adds = true;
    ref::additive_scores_backward(size, want.inputs(), want.de.data(), again);
    expect_matches(got, want);
  });
}

// Keys beyond a length are not read, nor are the scores' gradients there.
TEST(Additive, PaddingIsNeverRead) {
  on_every_target([] {
    const AdditiveSize size{2, 2, 3, 7, 37};
    Work clean(size, Place::at_fence, {4, 0}), dirty(size, Place::at_fence, {4, 0});
    for (Index pair = 0; pair < size.pairs(); ++pair) {
      for (Index j = dirty.seen(pair); j < size.keys; ++j) {
        std::fill_n(dirty.k.data() + (pair * size.keys + j) * size.width, size.width, kNaN);
        for (Index i = 0; i < size.queries; ++i) dirty.de[(pair * size.queries + i) * size.keys + j] = kNaN;
      }
    }
    clean.run();
    dirty.run();
    expect_same(dirty.e.values(), clean.e.values());
    expect_same(dirty.dq.values(), clean.dq.values());
    expect_same(dirty.dk.values(), clean.dk.values());
    expect_same(dirty.dv.values(), clean.dv.values());
    for (Index pair = 0; pair < size.pairs(); ++pair)
      for (Index j = clean.seen(pair); j < size.keys; ++j) {
        EXPECT_EQ(clean.e[pair * size.queries * size.keys + j], 0);
        EXPECT_EQ(clean.dk[(pair * size.keys + j) * size.width], 0);
      }
  });
}

// A sentence alone, without padding, has the bits it has in a batch with more of both.
TEST(Additive, SameBitsAloneAndInABatch) {
  on_every_target([] {
    const AdditiveSize size{20, 1, 3, 21, 150};  // wide blocks of columns; alone they are narrow
    const std::int32_t length = 18;
    Work batch(size, Place::misaligned, std::vector<std::int32_t>(20, length));
    batch.run();
    const Index pair = 7;
    const auto part = [](const Buffer& from, Index begin, Index count) {
      return std::vector<Real>(from.data() + begin, from.data() + begin + count);
    };
    const auto copy = [&](const Buffer& from, Index begin, const Buffer& to) {
      std::copy_n(from.data() + begin, to.size(), to.data());
    };
    Work alone({1, 1, size.queries, length, size.width}, Place::misaligned);
    copy(batch.q, pair * size.queries * size.width, alone.q);
    copy(batch.k, pair * size.keys * size.width, alone.k);
    for (Index i = 0; i < size.queries; ++i)
      std::copy_n(batch.de.data() + (pair * size.queries + i) * size.keys, length, alone.de.data() + i * length);
    alone.run();
    for (Index i = 0; i < size.queries; ++i)
      expect_same(part(alone.e, i * length, length), part(batch.e, (pair * size.queries + i) * size.keys, length));
    expect_same(alone.dq.values(), part(batch.dq, pair * size.queries * size.width, alone.dq.size()));
    expect_same(alone.dk.values(), part(batch.dk, pair * size.keys * size.width, alone.dk.size()));
    expect_same(alone.dv.values(), part(batch.dv_each, pair * size.width, size.width));
  });
}

TEST(Additive, NanStaysWhereItIs) {
  on_every_target([] {
    Work work({1, 1, 2, 3, 21}, Place::misaligned);
    work.q[20] = kNaN;           // the first query
    work.k[2 * 21] = kInfinity;  // the third key: tanh is 1
    work.run();
    for (Index j = 0; j < 3; ++j) {
      EXPECT_TRUE(std::isnan(work.e[j]));
      EXPECT_TRUE(std::isfinite(work.e[3 + j]));
    }
    EXPECT_EQ(work.dk[2 * 21], 0);  // flat there
    EXPECT_TRUE(std::isnan(work.dv[20]));
    EXPECT_TRUE(std::isfinite(work.dv[19]));
  });
}

TEST(Additive, ThreadsDoNotChangeTheResult) {
  for (const AdditiveSize& size : {AdditiveSize{1, 1, 9, 50, 333}, AdditiveSize{19, 1, 2, 40, 130}}) {
    on_every_target([&] {
      expect_same_on_any_thread_count([&] {
        Work work(size, Place::misaligned);
        work.run();
        std::vector<Real> all = work.e.values();
        for (const Buffer* part : {&work.dq, &work.dk, &work.dv})
          all.insert(all.end(), part->data(), part->data() + part->size());
        return all;
      });
    });
  }
}

}  // namespace
}  // namespace heed::kernels
