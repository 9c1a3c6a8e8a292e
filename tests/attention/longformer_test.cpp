#include "heed/attention/longformer.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"

namespace heed::test {
namespace {

constexpr Index kWidth = 6, kLength = 9;

MultiHeadOptions options(Index neighbours, Index global_tokens) {
  MultiHeadOptions o{.width = kWidth, .attention = {}};
  o.attention.heads = 2;
  o.attention.neighbours = neighbours;
  o.attention.global_tokens = global_tokens;
  return o;
}

struct LongformerLayer {
  LongformerLayer(Index neighbours, Index global_tokens)
      : layer(Scope(parameters), options(neighbours, global_tokens)) {
    randomise(parameters, 3);
  }
  // The global tokens' projections become those of all others.
  void tie() {
    for (const char* map : {"query", "key", "value"}) {
      for (const char* part : {"weight", "bias"}) {
        const std::string tail = std::string(".") + map + "." + part;
        const Tensor& from = parameters.at("sliding" + tail).value();
        Var to = parameters.at("global" + tail);
        std::copy_n(from.data(), from.size(), to.value().data());
      }
    }
  }
  Tensor operator()(const Tensor& x, const Ids& lengths = {}) const { return layer(x, lengths).value().contiguous(); }
  Parameters parameters;
  Longformer layer;
};

double row_distance(const Tensor& a, const Tensor& b, Index first = 0, Index end = kLength) {
  double most = 0;
  for (Index i = first * kWidth; i < end * kWidth; ++i)
    most = std::max<double>(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

TEST(Longformer, AllTokensGlobalAndTiedIsFullAttention) {
  LongformerLayer all_global(2, kLength);
  all_global.tie();
  LongformerLayer wide(2 * kLength, 0);  // a window over everything, no global token
  const Tensor x = random_tensor(Shape{1, kLength, kWidth}, 1);
  EXPECT_LT(row_distance(all_global(x), wide(x)), 1e-5);
}

TEST(Longformer, GlobalTokensHaveProjectionsOfTheirOwn) {
  LongformerLayer layer(2, 2);
  const Tensor x = random_tensor(Shape{1, kLength, kWidth}, 1);
  const Tensor apart = layer(x);
  layer.tie();
  const Tensor tied = layer(x);
  EXPECT_GT(row_distance(apart, tied, 0, 2), 1e-3);
  EXPECT_EQ(row_distance(apart, tied, 2, kLength), 0);
}

TEST(Longformer, AGlobalTokenSeesAllAndIsSeenByAll) {
  const LongformerLayer layer(2, 1);
  const Tensor x = random_tensor(Shape{1, kLength, kWidth}, 1);
  const Tensor before = layer(x);
  Tensor far = x.copy();
  far.data()[(kLength - 1) * kWidth] += 1;  // reaches its neighbour and the global token only
  const Tensor after = layer(far);
  EXPECT_GT(row_distance(before, after, 0, 1), 1e-4);
  EXPECT_EQ(row_distance(before, after, 1, kLength - 2), 0);
  EXPECT_GT(row_distance(before, after, kLength - 2, kLength), 1e-4);
  Tensor first = x.copy();
  first.data()[0] += 1;
  const Tensor seen = layer(first);
  for (Index i = 0; i < kLength; ++i) EXPECT_GT(row_distance(before, seen, i, i + 1), 1e-5) << i;
}

TEST(Longformer, PaddingIsNotSeen) {
  const LongformerLayer layer(4, 2);
  const Tensor x = random_tensor(Shape{1, kLength, kWidth}, 1);
  Tensor other = x.copy();
  for (Index i = 6 * kWidth; i < kLength * kWidth; ++i) other.data()[i] = 50;
  EXPECT_EQ(row_distance(layer(x, ids({6})), layer(other, ids({6})), 0, 6), 0);
}

}  // namespace
}  // namespace heed::test
