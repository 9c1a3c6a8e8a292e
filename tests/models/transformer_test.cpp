#include "heed/models/transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/messages.h"

namespace heed {
namespace {

TransformerConfig tiny_transformer() {
  TransformerConfig config;
  config.inputs[0] = 11, config.outputs = 13;
  config.layers = config.decoder_layers = 2;
  config.width = 8, config.feed_forward = 12, config.heads = 2, config.dropout = 0;
  return config;
}

Source one_sentence(const std::vector<std::int32_t>& ids) {
  const Index length = static_cast<Index>(ids.size());
  Ids row(Shape{1, length});
  std::copy(ids.begin(), ids.end(), row.data());
  return {row, Ids(Shape{1}, static_cast<std::int32_t>(length))};
}

Tensor logits(const TransformerConfig& config, const Source& source, const Source& previous) {
  Parameters parameters(7);
  return Transformer(Scope(parameters), config).forward(source, previous).words.logits().value().contiguous();
}

bool same_numbers(const Tensor& a, const Tensor& b) { return std::equal(a.data(), a.data() + a.size(), b.data()); }

TEST(TransformerModel, SinusoidsAreThePapers) {
  const Tensor table = Transformer::sinusoids(1, 1, 512);
  const double golden[] = {.841471, .540302, .821856, .569695};
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(table.data()[i], golden[i], 1e-6);
  const Tensor longer = Transformer::sinusoids(0, 2, 512);
  EXPECT_TRUE(std::equal(table.data(), table.data() + 512, longer.data() + 512));
}

TEST(TransformerModel, WithoutPositionsTheOrderOfTheSourceDoesNotMatter) {
  const Source previous = one_sentence({1, 4, 5});
  const auto distance = [&](const std::string& positions) {
    TransformerConfig config = tiny_transformer();
    config.positions = positions;
    const Tensor a = logits(config, one_sentence({3, 7, 4, 9, 2}), previous);
    const Tensor b = logits(config, one_sentence({9, 4, 2, 3, 7}), previous);
    double most = 0;
    for (Index i = 0; i < a.size(); ++i) most = std::max<double>(most, std::abs(a.data()[i] - b.data()[i]));
    return most;
  };
  EXPECT_LT(distance("none"), 1e-5);
  for (const char* positions : {"sinusoidal", "relative", "alibi", "rotary"}) EXPECT_GT(distance(positions), 1e-4);
}

TEST(TransformerModel, NeighboursThatReachEverywhereChangeNothing) {
  const Source source = one_sentence({3, 7, 4, 9, 2}), previous = one_sentence({1, 4, 5, 6});
  TransformerConfig config = tiny_transformer();
  const Tensor full = logits(config, source, previous);
  config.neighbours = 8;
  EXPECT_TRUE(same_numbers(full, logits(config, source, previous)));
  config.neighbours = 2;
  EXPECT_FALSE(same_numbers(full, logits(config, source, previous)));
}

TEST(TransformerModel, OneTableForAllSavesTwo) {
  TransformerConfig config = tiny_transformer();
  config.outputs = config.inputs[0];
  config.tied = "all";
  Parameters shared, separate;
  const Transformer one{Scope(shared), config};
  config.tied = "none";
  const Transformer three{Scope(separate), config};
  EXPECT_EQ(separate.count() - shared.count(), 2 * config.inputs[0] * config.width);
}

TEST(TransformerModel, RefusesWhatMakesNoSense) {
  const auto refusal = [](auto change) {
    TransformerConfig config = tiny_transformer();
    change(config);
    return test::message_of([&] {
      Parameters parameters;
      const Transformer model{Scope(parameters), config};
    });
  };
  EXPECT_EQ(refusal([](auto& c) { c.norm = "past"; }), "[transformer] norm cannot be past; did you mean post?");
  EXPECT_EQ(refusal([](auto& c) { c.tied = "all"; }),
            "[transformer] one table for both sides needs one vocabulary, not 11 and 13 words");
  EXPECT_EQ(refusal([](auto& c) { c.heads = 3; }), "[multi-head] a width of 8 does not split into 3 heads");
  EXPECT_EQ(refusal([](auto& c) { c.alignment_layer = 3; }), "[transformer] alignment layer 3 of 2");
}

}  // namespace
}  // namespace heed
