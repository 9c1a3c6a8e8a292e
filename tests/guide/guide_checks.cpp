#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"

namespace heed {
namespace {

// What CONTRIBUTING.md promises of the file it shows.
TEST(Guide, TheMechanismIsFoundByItself) {
  EXPECT_EQ(mechanism_named("content-addressing").options.score, "cosine");
  EXPECT_NE(describe_attentions().find("content-addressing"), std::string::npos);
}

TEST(Guide, ScalingAKeyChangesNothing) {
  Parameters parameters;
  AttentionOptions options = mechanism_named("content-addressing").options;
  options.query_width = options.key_width = options.value_width = 2;
  const Attention attention(Scope(parameters), options);
  const auto weight_of_first = [&](Real factor) {
    const Tensor keys(Shape{1, 2, 2}, {factor * 3, factor * 4, 1, -2});
    Query query;
    query.vectors = Tensor(Shape{1, 1, 2}, {2, 1});
    return attention(query, attention.memory(keys, keys)).weights.value().at({0, 0, 0, 0});
  };
  EXPECT_NEAR(weight_of_first(1), weight_of_first(100), 1e-6);
}

}  // namespace
}  // namespace heed
