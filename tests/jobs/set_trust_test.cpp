#include "heed/jobs/set_trust.h"

#include <gtest/gtest.h>

#include "support/messages.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

constexpr Index kDraws = 100;

class SetTrustTest : public testing::Test {
 protected:
  static Runner runner(const test::TinyBundle& tiny) {
    return {std::make_shared<const Bundle>(make_tiny(tiny)), tiny.system, 1, [](const std::string&) {}};
  }
  static Runner han() { return runner({.system = "han", .texts = {"a b c d e f g h\n"}, .labels = {"x", "y"}}); }
  const std::vector<Sample> samples_ = {sample_of({"a b c d"}, {"x"}), sample_of({""}, {"x"}),
                                        sample_of({"e f . g h"}, {"y"}), sample_of({"h g f e d c b a"}, {"y"})};
};

TEST_F(SetTrustTest, IsTheMeanOfTheTraces) {
  Runner model = han();
  const SetTrust trust = measure_set_trust(model, samples_, 0, kDraws);
  EXPECT_EQ(trust.samples, 3);
  EXPECT_EQ(trust.left_out, 1);  // the empty one
  ASSERT_EQ(trust.numbers.size(), 4u);
  ExplainOptions options;
  options.trust = true;
  double own = 0, random = 0;
  for (const std::size_t i : {0u, 2u, 3u}) {
    const Sample alone{.inputs = samples_[i].inputs};
    const Trace trace = model.explain(std::span(&alone, 1), options).front();
    own += trace.trust.front().comprehensiveness / 3;
    random += trace.trust.front().random_comprehensiveness / 3;
  }
  const SetTrust::Number& number = trust.numbers[2];
  EXPECT_EQ(number.name, "comprehensiveness");
  EXPECT_NEAR(number.own.score, own, 1e-9);
  EXPECT_NEAR(number.random.score, random, 1e-9);
  EXPECT_LE(number.own.low, number.own.score);
  EXPECT_GE(number.own.high, number.own.score);
  EXPECT_EQ(trust.numbers[0].random.score, 0);  // a random order agrees with nothing
}

TEST_F(SetTrustTest, TakesSamplesEvenlySpread) {
  Runner model = han();
  const SetTrust two = measure_set_trust(model, samples_, 2, 0);  // the first and the third
  EXPECT_EQ(two.samples, 2);
  EXPECT_EQ(two.left_out, 0);
  EXPECT_EQ(two.numbers[2].own.low, two.numbers[2].own.high);
}

TEST_F(SetTrustTest, MeasuresWritersToo) {
  Runner model = runner({.system = "rnnsearch"});
  const std::vector<Sample> samples = {sample_of({"the cat sleeps"}, {"x"})};
  const SetTrust trust = measure_set_trust(model, samples, 0, 0);
  EXPECT_EQ(trust.samples, 1);
  EXPECT_NE(trust.text(0).find("leave-one-out agreement"), std::string::npos);
}

TEST_F(SetTrustTest, SaysWhatCannotBeMeasured) {
  Runner conditional =
      runner({.system = "rocktaschel", .settings = {{"reading", "conditional"}}, .labels = {"x", "y"}});
  const std::vector<Sample> pairs = {sample_of({"the cat", "the house"}, {"x"})};
  EXPECT_EQ(test::message_of([&] { measure_set_trust(conditional, pairs, 0, 0); }),
            "[trust] rocktaschel looks at nothing: it has no weights that could be trusted");
  Runner model = han();
  EXPECT_EQ(test::message_of([&] { measure_set_trust(model, std::span(samples_).subspan(1, 1), 0, 0); }),
            "[trust] none of 1 samples can be measured: they are empty, or longer than 1000 pieces");
}

}  // namespace
}  // namespace heed
