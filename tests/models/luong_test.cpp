#include "heed/models/luong.h"

#include <gtest/gtest.h>

#include <functional>

#include "attention/composition_cases.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

using Settings = std::map<std::string, std::string>;

// What two variants with the same numbers in their parameters say; parameters that only `b` has start as `prepare`
// leaves them.
double difference(const Settings& a, const Settings& b, const std::function<void(Parameters&)>& prepare = {}) {
  TinyModel one({"luong", a}), other({"luong", b});
  for (const Parameters::Entry& entry : one.parameters.entries()) {
    if (!other.parameters.contains(entry.name)) continue;
    const auto numbers = entry.var.value().values();
    std::copy(numbers.begin(), numbers.end(), Tensor(other.parameters.at(entry.name).value()).data());
  }
  if (prepare) prepare(other.parameters);
  const Source source = some_sources(), previous = some_previous();
  return distance(one.model->forward(source, previous).words.logits().value().contiguous(),
                  other.model->forward(source, previous).words.logits().value().contiguous());
}

TEST(LuongModel, AWindowWiderThanTheSourceIsGlobal) {
  for (const char* score : {"dot", "general", "concat", "location"}) {
    EXPECT_LE(difference({{"score", score}}, {{"score", score}, {"window", "local-m"}, {"half-width", "9"}}), 1e-6);
    EXPECT_GT(difference({{"score", score}}, {{"score", score}, {"window", "local-m"}, {"half-width", "1"}}), 1e-3);
    // σ = D/2: the Gaussian is flat.
    EXPECT_LE(difference({{"score", score}}, {{"score", score}, {"window", "local-p"}, {"half-width", "100000"}}),
              1e-5);
    EXPECT_GT(difference({{"score", score}}, {{"score", score}, {"window", "local-p"}, {"half-width", "2"}}), 1e-3);
  }
}

TEST(LuongModel, GeneralWithTheIdentityIsDot) {
  const auto diagonal = [](Real number) {
    return [number](Parameters& parameters) {
      fill(parameters, "attention.score.weight", 0);
      Tensor w = parameters.at("attention.score.weight").value();
      for (Index i = 0; i < w.size(0); ++i) w.data()[i * w.size(1) + i] = number;
    };
  };
  EXPECT_LE(difference({{"score", "dot"}}, {{"score", "general"}}, diagonal(1)), 1e-6);
  EXPECT_GT(difference({{"score", "dot"}}, {{"score", "general"}}, diagonal(20)), 1e-3);
}

TEST(LuongModel, FeedingNothingIsNotFeeding) {
  TinyModel fed({"luong", {}}), unfed({"luong", {{"input-feeding", "false"}}});
  for (const Parameters::Entry& entry : unfed.parameters.entries()) {
    const std::string from = entry.name == "decoder.layer0.input" ? "decoder.words.weight" : entry.name;
    const auto numbers = fed.parameters.at(from).value().values();
    std::copy(numbers.begin(), numbers.end(), Tensor(entry.var.value()).data());
  }
  const Source source = some_sources(), previous = sentences({{1, 4, 8}, {1, 9, 10}, {1, 5, 6}});
  const Tensor without = unfed.model->forward(source, previous).words.logits().value().contiguous();
  EXPECT_GT(distance(fed.model->forward(source, previous).words.logits().value().contiguous(), without), 1e-3);
  fill(fed.parameters, "decoder.layer0.input", 0);
  EXPECT_LE(distance(fed.model->forward(source, previous).words.logits().value().contiguous(), without), 1e-5);
}

// Reading backwards what is written backwards is reading: turned round twice, a sentence is the same. Each sentence
// turns about its own end, so that padding never comes to the front.
TEST(LuongModel, ReversingTwiceIsTheIdentity) {
  for (const char* system : {"luong", "seq2seq-lstm"}) {
    const TinyModel backwards({system, {}}), forwards({system, {{"reverse-source", "false"}}});
    const Source previous = some_previous(9);
    const Source turned = sentences({{2, 9, 4, 7, 3}, {2}, {2, 6, 5}}, 8);
    EXPECT_LE(distance(backwards.model->forward(some_sources(10), previous).words.logits().value().contiguous(),
                       forwards.model->forward(turned, previous).words.logits().value().contiguous()),
              1e-5)
        << system;
    EXPECT_GT(distance(forwards.model->forward(some_sources(10), previous).words.logits().value().contiguous(),
                       forwards.model->forward(turned, previous).words.logits().value().contiguous()),
              1e-3)
        << system;
  }
}

}  // namespace
}  // namespace heed::test
