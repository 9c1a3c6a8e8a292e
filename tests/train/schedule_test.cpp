#include "heed/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed {
namespace {

void expect_relative(Real actual, double expected, double tolerance = 1e-6) {
  EXPECT_NEAR(actual, expected, tolerance * expected);
}

TEST(Schedule, Constant) {
  const SchedulePointer schedule = constant_rate(0.25);
  EXPECT_EQ(schedule->rate(1), Real{0.25});
  EXPECT_EQ(schedule->rate(1'000'000'000), Real{0.25});
  EXPECT_THROW(schedule->rate(0), Error);
}

TEST(Schedule, Halving) {
  // Luong et al. 2015 with 100 steps an epoch: 1 for five epochs, then half in the sixth, and so on.
  const SchedulePointer schedule = halving_rate({.rate = 1, .after = 500, .every = 100});
  EXPECT_EQ(schedule->rate(1), Real{1});
  EXPECT_EQ(schedule->rate(500), Real{1});
  EXPECT_EQ(schedule->rate(501), Real{0.5});
  EXPECT_EQ(schedule->rate(600), Real{0.5});
  EXPECT_EQ(schedule->rate(601), Real{0.25});
  EXPECT_EQ(schedule->rate(1000), Real{0.03125});
}

TEST(Schedule, NoamsGoldenNumbers) {
  const SchedulePointer schedule = noam_rate({.width = 512, .warm_up = 4000});
  expect_relative(schedule->rate(1), 1.74693e-7, 1e-5);
  expect_relative(schedule->rate(4000), 6.98771e-4, 1e-5);
  expect_relative(schedule->rate(100'000), 1.39754e-4, 1e-5);
  for (const double step : {1.0, 17.0, 3999.0, 4000.0, 4001.0, 123456.0})
    expect_relative(schedule->rate(static_cast<Index>(step)),
                    std::pow(512, -0.5) * std::min(std::pow(step, -0.5), step * std::pow(4000, -1.5)));
}

TEST(Schedule, InverseRootHasItsPeakAtTheEndOfTheWarmUp) {
  const SchedulePointer schedule = inverse_root_rate({.peak = 0.005, .warm_up = 2000, .start = 0.001});
  expect_relative(schedule->rate(1000), 0.003);
  expect_relative(schedule->rate(2000), 0.005);
  expect_relative(schedule->rate(8000), 0.0025);
  EXPECT_LT(schedule->rate(1999), schedule->rate(2000));
  EXPECT_GT(schedule->rate(2000), schedule->rate(2001));
}

TEST(Schedule, PlateauDividesWhenTheValueStalls) {
  const SchedulePointer schedule = plateau_rate({.rate = 0.25, .factor = 0.1, .patience = 1, .minimum = 1e-3});
  schedule->observe(3);
  schedule->observe(2);  // better
  schedule->observe(2);  // not better: 1 of 1
  expect_relative(schedule->rate(1), 0.25);
  schedule->observe(2.5);  // beyond the patience
  expect_relative(schedule->rate(1), 0.025);
  schedule->observe(1.5);
  schedule->observe(NAN);  // never better
  expect_relative(schedule->rate(1), 0.025);
  schedule->observe(1.75);
  expect_relative(schedule->rate(1), 0.0025);
  for (int i = 0; i < 10; ++i) schedule->observe(9);
  expect_relative(schedule->rate(1), 1e-3);
}

TEST(Schedule, PlateauOfAScoreThatShouldRise) {
  const SchedulePointer schedule = plateau_rate({.rate = 1, .factor = 0.5, .higher_is_better = true});
  schedule->observe(20);
  schedule->observe(25);
  EXPECT_EQ(schedule->rate(1), Real{1});
  schedule->observe(24);
  EXPECT_EQ(schedule->rate(1), Real{0.5});
}

TEST(Schedule, PlateauResumesExactly) {
  const Plateau options{.rate = 1, .factor = 0.5, .patience = 1};
  const SchedulePointer schedule = plateau_rate(options), resumed = plateau_rate(options);
  resumed->load_state(schedule->state());  // nothing seen yet: any value is the best
  for (const double value : {-1.0, 5.0, 6.0, 5.0}) schedule->observe(value);
  resumed->load_state(schedule->state());
  for (const double value : {-1.0, -2.0, 0.0, 0.0, 3.0, 3.0}) {
    schedule->observe(value);
    resumed->observe(value);
    EXPECT_EQ(schedule->rate(1), resumed->rate(1));
  }
  EXPECT_EQ(schedule->rate(1), Real{0.0625});
  EXPECT_THROW(resumed->load_state({}), Error);
}

TEST(Schedule, RefusesNonsense) {
  EXPECT_THROW(constant_rate(-1), Error);
  EXPECT_THROW(constant_rate(NAN), Error);
  EXPECT_THROW(halving_rate({.rate = 1, .after = 5, .every = 0}), Error);
  EXPECT_THROW(halving_rate({.rate = 1, .after = -5, .every = 1}), Error);
  EXPECT_THROW(noam_rate({.width = 0}), Error);
  EXPECT_THROW(noam_rate({.width = 8, .warm_up = 0}), Error);
  EXPECT_THROW(inverse_root_rate({.peak = 1, .warm_up = 0}), Error);
  EXPECT_THROW(plateau_rate({.rate = 1, .factor = 1}), Error);
  EXPECT_THROW(plateau_rate({.rate = 1, .patience = -1}), Error);
  try {
    halving_rate({.rate = 1, .after = 1, .every = 1, .factor = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[schedule] factor must be between 0 and 1, not 2");
  }
}

}  // namespace
}  // namespace heed
