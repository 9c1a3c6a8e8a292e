#include "heed/models/rnnsearch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "models/translation_cases.h"
#include "support/messages.h"

namespace heed::test {
namespace {

RnnSearchConfig tiny_rnnsearch() {
  RnnSearchConfig config;  // of the paper, but small
  config.inputs[0] = kSourceWords, config.outputs = kTargetWords;
  config.embedding = 5, config.hidden = 40, config.maxout = 4;
  return config;
}

double deviation(const Tensor& x) {
  double squares = 0;
  for (const Real value : x.values()) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(x.size()));
}

TEST(RnnSearchModel, StartsAsThePaperSays) {
  Parameters parameters;
  const RnnSearch<GruLayer> model(Scope(parameters), tiny_rnnsearch());
  for (const char* zero : {"attention.score.v", "encoder.forward.bias", "decoder.bias", "readout.bias", "output.bias"})
    EXPECT_EQ(deviation(parameters.at(zero).value()), 0) << zero;
  for (const char* small : {"attention.score.query.weight", "attention.score.key.weight"})
    EXPECT_NEAR(deviation(parameters.at(small).value()), 0.001, 0.0001) << small;
  for (const char* other :
       {"source.table", "encoder.backward.input", "decoder.input", "start.weight", "readout.weight"})
    EXPECT_NEAR(deviation(parameters.at(other).value()), 0.01, 0.0015) << other;
  const Tensor u = parameters.at("decoder.recurrent").value();
  for (Index a = 0; a < 3; ++a) {
    for (Index b = 0; b < 3; ++b) {
      double dot = 0;
      for (Index i = 0; i < 40; ++i) dot += static_cast<double>(u.at({a, i})) * u.at({b, i});
      EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-5);
    }
  }
}

// v = 0 at the start: every word of the source has the same weight, whatever is asked.
TEST(RnnSearchModel, FirstLooksEverywhereAlike) {
  Parameters parameters;
  const RnnSearch<GruLayer> model(Scope(parameters), tiny_rnnsearch());
  const Source source = some_sources();
  const Tensor weights = model.forward(source, some_previous(), {.alignment = true}).alignment.value().contiguous();
  for (Index b = 0; b < weights.size(0); ++b) {
    const Index length = source.lengths.data()[b];
    for (Index t = 0; t < weights.size(1); ++t)
      for (Index j = 0; j < weights.size(2); ++j)
        EXPECT_FLOAT_EQ(weights.at({b, t, j}), j < length ? Real{1} / static_cast<Real>(length) : Real{0});
  }
}

TEST(RnnSearchModel, WithoutTheQuerysMapEveryStepLooksAlike) {
  TinyModel model({"rnnsearch", {}});
  fill(model.parameters, "attention.score.query.weight", 0);
  const Source source = sentences({{3, 7, 4, 9, 2}}), previous = sentences({{1, 4, 8, 5}});
  const Tensor weights = model.model->forward(source, previous, {.alignment = true}).alignment.value().contiguous();
  EXPECT_NE(weights.at({0, 0, 0}), weights.at({0, 0, 1}));
  for (Index t = 1; t < 4; ++t)
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(weights.at({0, t, j}), weights.at({0, 0, j}));
}

// The word is predicted from the state before the step: how a step is made first matters to the second word.
TEST(RnnSearchModel, TheReadoutUsesTheStateBefore) {
  TinyModel model({"rnnsearch", {}});
  const Source source = some_sources(), previous = some_previous();
  const Tensor before = model.model->forward(source, previous).words.logits().value().contiguous();
  fill(model.parameters, "decoder.recurrent", 0.3);
  const Tensor after = model.model->forward(source, previous).words.logits().value().contiguous();
  EXPECT_TRUE(same_bits(before.slice(1, 0, 1).contiguous(), after.slice(1, 0, 1).contiguous()));
  EXPECT_GT(distance(before.slice(1, 1, 2).contiguous(), after.slice(1, 1, 2).contiguous()), 1e-3);
}

TEST(RnnSearchModel, SaysWhatIsWrong) {
  const auto make = [](const std::map<std::string, std::string>& settings) {
    return message_of([&] { TinyModel({"rnnsearch", settings}); });
  };
  EXPECT_EQ(make({{"cell", "gur"}}), "[rnnsearch] cell cannot be gur; did you mean gru?");
  EXPECT_EQ(make({{"hidden", "0"}}), "[rnnsearch] hidden must be positive, not 0");
  EXPECT_EQ(make({{"dropout", "1"}}), "[rnnsearch] a dropout of 1 is outside 0..1");
  EXPECT_EQ(make({{"tied", "true"}, {"maxout", "3"}}),
            "[output] the words' vectors of width 4 cannot be the output's weights of width 3; "
            "give both one width, or set tied to false");
  RnnSearchConfig config = tiny_rnnsearch();
  config.copy = true, config.outputs = 12;
  Parameters parameters;
  EXPECT_EQ(message_of([&] { RnnSearch<GruLayer>(Scope(parameters), config); }),
            "[rnnsearch] copying needs one vocabulary for both sides, not 11 and 12 words");
}

}  // namespace
}  // namespace heed::test
