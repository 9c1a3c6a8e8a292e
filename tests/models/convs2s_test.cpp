#include "heed/models/convs2s.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/loss.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

Tensor logits_of(const TinyModel& tiny, const Source& source, const Source& previous) {
  return tiny.model->forward(source, previous).words.logits().value().contiguous();
}

// L layers of width k see 1 + L (k - 1) words of the target, no more and no fewer.
TEST(ConvS2SModel, TheReceptiveFieldIsThatOfItsLayers) {
  for (const Index kernel : {2, 3}) {
    const TinyModel tiny({"convs2s", {{"kernel", std::to_string(kernel)}, {"decoder-layers", "2"}}});
    const Index reach = 2 * (kernel - 1), changed = 1;
    const Source source = sentences({{3, 7, 4, 9, 2}});
    const Tensor before = logits_of(tiny, source, sentences({{1, 4, 8, 5, 3, 6, 7, 9}}));
    const Tensor after = logits_of(tiny, source, sentences({{1, 10, 8, 5, 3, 6, 7, 9}}));
    for (Index t = 0; t < 8; ++t) {
      const bool same = same_bits(before.slice(1, t, t + 1).contiguous(), after.slice(1, t, t + 1).contiguous());
      EXPECT_EQ(same, t < changed || t > changed + reach) << "kernel " << kernel << " at " << t;
    }
  }
}

// The factor is a power of two here, so that it is exact.
TEST(ConvS2SModel, OnlyTheEncodersGradientIsScaled) {
  const TinyModel scaled({"convs2s", {}}), plain({"convs2s", {{"scale-encoder-gradient", "false"}}});
  const Source source = some_sources(), previous = some_previous();
  EXPECT_TRUE(same_bits(logits_of(scaled, source, previous), logits_of(plain, source, previous)));
  const auto gradients = [&](const TinyModel& tiny) {
    return backward(tiny.model->forward(source, previous).words.cross_entropy(expected_after(previous)));
  };
  const Gradients a = gradients(scaled), b = gradients(plain);
  const Real factor = 1.0 / (2 * 2);  // two decoder layers
  for (const Parameters::Entry& entry : scaled.parameters.entries()) {
    const Tensor got = a.of(entry.var), full = b.of(plain.parameters.at(entry.name));
    Tensor less = full.copy();
    for (Real& x : less.values()) x *= factor;
    const bool of_encoder = entry.name.starts_with("encoder.");
    if (entry.name.starts_with("source.")) {  // partly through the encoder, partly as the e of the values
      EXPECT_FALSE(same_bits(got, full) || same_bits(got, less)) << entry.name;
    } else {
      EXPECT_TRUE(same_bits(got, of_encoder ? less : full)) << entry.name;
    }
  }
}

TEST(ConvS2SModel, TheLengthOfADirectionDoesNotMatter) {
  TinyModel tiny({"convs2s", {}});
  const Source source = some_sources(), previous = some_previous();
  const Tensor before = logits_of(tiny, source, previous);
  for (const Parameters::Entry& entry : tiny.parameters.entries()) {
    if (!entry.name.ends_with(".direction")) continue;
    for (Real& x : Tensor(entry.var.value()).values()) x *= 3;
  }
  EXPECT_LE(distance(before, logits_of(tiny, source, previous)), 1e-5);
  fill(tiny.parameters, "encoder.layer1.norm", 3);
  EXPECT_GT(distance(before, logits_of(tiny, source, previous)), 1e-3);
}

TEST(ConvS2SModel, StartsAsThePaperSays) {
  ConvS2SConfig config;
  config.inputs[0] = config.outputs = 200;
  config.layers = config.decoder_layers = 1, config.embedding = 60, config.hidden = 50, config.dropout = 0.2;
  Parameters parameters;
  const ConvS2S model{Scope(parameters), config};
  const auto variance = [&](const char* name) {
    double squares = 0;
    const Tensor x = parameters.at(name).value();
    for (const Real value : x.values()) squares += static_cast<double>(value) * value;
    return squares / static_cast<double>(x.size());
  };
  const std::vector<std::pair<const char*, double>> expected{{"source.table", 0.01},
                                                             {"target.positions.table", 0.01},
                                                             {"encoder.in.direction", 0.8 / 60},
                                                             {"encoder.out.direction", 1.0 / 50},
                                                             {"encoder.layer0.direction", 4 * 0.8 / (3 * 50)},
                                                             {"output.direction", 0.8 / 60}};
  for (const auto& [name, value] : expected) EXPECT_NEAR(variance(name) / value, 1, 0.1) << name;
  // g = ‖v‖ of each unit: at first the weights are v.
  const Tensor v = parameters.at("encoder.in.direction").value(), g = parameters.at("encoder.in.norm").value();
  for (Index unit = 0; unit < 50; ++unit) {
    double squares = 0;
    for (Index i = 0; i < 60; ++i) squares += static_cast<double>(v.at({i, unit})) * v.at({i, unit});
    EXPECT_NEAR(g.at({unit}), std::sqrt(squares), 1e-6);
  }
}

TEST(ConvS2SModel, EveryLayerHasAnAttentionOfItsOwn) {
  const TinyModel tiny({"convs2s", {{"decoder-layers", "3"}}});
  std::vector<AttentionOfBatch> trace;
  const TeacherForced forced =
      tiny.model->forward(some_sources(), some_previous(), {.alignment = true, .trace = &trace});
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace[2].name, "decoder.layer3.source");
  EXPECT_GT(distance(trace[0].weights, trace[1].weights), 1e-3);
  const Tensor mean = forced.alignment.value().contiguous();
  for (Index i = 0; i < mean.size(); ++i)
    EXPECT_NEAR(mean.data()[i],
                (trace[0].weights.data()[i] + trace[1].weights.data()[i] + trace[2].weights.data()[i]) / 3, 1e-6);
}

}  // namespace
}  // namespace heed::test
