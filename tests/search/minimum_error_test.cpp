#include "heed/search/minimum_error.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed {
namespace {

TEST(MinimumError, FindsTheWeightThatChoosesTheBest) {
  // The second is best from w = 2 on, the third from w = 4 on.
  const std::vector<RatedList> lists{{{0, {0}, 1}, {-2, {1}, 5}, {-6, {2}, 2}}};
  const std::vector<double> weights = minimum_error_weights(lists, {0});
  EXPECT_EQ(weights[0], 3);  // the middle
  EXPECT_EQ(chosen_quality(lists, weights), 5);
}

TEST(MinimumError, MovesNothingThatCannotBecomeBetter) {
  const std::vector<RatedList> lists{{{0, {0}, 5}, {-2, {1}, 1}}};
  EXPECT_EQ(minimum_error_weights(lists, {0.25}), std::vector<double>{0.25});
  EXPECT_EQ(minimum_error_weights({}, {1, 2}), (std::vector<double>{1, 2}));
}

TEST(MinimumError, IsNoWorseThanAnyPlaceOnAGrid) {
  RandomSequence random(RandomKey{7});
  std::vector<RatedList> lists(30);
  for (RatedList& list : lists)
    for (int i = 0; i < 6; ++i)
      list.push_back({-5 * random.uniform(), {std::floor(4 * random.uniform())}, random.uniform()});
  const double found = chosen_quality(lists, minimum_error_weights(lists, {0}));
  for (double w = -10; w <= 10; w += 0.01) EXPECT_GE(found, chosen_quality(lists, std::vector<double>{w}) - 1e-9) << w;
}

TEST(MinimumError, WrongListsAreErrors) {
  const std::vector<RatedList> nothing(1), uneven{{{0, {1, 2}, 1}}};
  EXPECT_THROW(minimum_error_weights(nothing, {0}), Error);
  EXPECT_THROW(minimum_error_weights(uneven, {0}), Error);
}

}  // namespace
}  // namespace heed
