#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/fields.h"
#include "models/translation_cases.h"

// Replays what an implementation in PyTorch, written from the papers' equations, computes for every system
// (tests/reference/make_model_cases.py): logits, loss, the gradient of every parameter, and ten steps of training.

namespace heed::test {
namespace {

// Both sides compute in double, whose rounding reaches 1e-14 of values near 1 after some hundred operations.
constexpr double kTolerance = 1e-12;

struct Recorded {
  nlohmann::json batch;  // vocabularies, sentences, the rate of training
  nlohmann::json model;
};
void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.model["name"]; }

std::vector<Recorded> recorded_models() {
  nlohmann::json all = nlohmann::json::parse(std::ifstream(HEED_SOURCE_DIR "/tests/models/data/model_cases.json"));
  std::vector<Recorded> list;
  for (const nlohmann::json& model : all["cases"]) list.push_back({all, model});
  for (Recorded& each : list) each.batch.erase("cases");
  return list;
}

std::string name_of(const testing::TestParamInfo<Recorded>& at) {
  auto name = at.param.model["name"].get<std::string>();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

// As `filled` in make_model_cases.py.
void fill_by_name(Parameters& parameters) {
  for (Parameters::Entry& entry : parameters.entries()) {
    std::uint32_t start = 2166136261U;  // FNV-1a
    for (const char c : entry.name) start = (start ^ static_cast<unsigned char>(c)) * 16777619U;
    Tensor& value = entry.var.value();
    for (Index i = 0; i < value.size(); ++i) {
      std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761U + start;
      h = (h ^ h >> 15) * 2246822519U;
      h = (h ^ h >> 13) * 3266489917U;
      value.data()[i] = static_cast<Real>((static_cast<double>(h ^ h >> 16) / 4294967296.0 - 0.5) * 0.6);
    }
  }
}

class ReferenceModel : public testing::TestWithParam<Recorded> {
 protected:
  ReferenceModel() {
    const auto& [batch, recorded] = GetParam();
    const auto system = recorded["system"].get<std::string>();
    const std::unique_ptr<Config> config = system_named(system).config("paper");
    const VisitFields visit = [&](Fields& field) { config->visit(field); };
    for (const auto& [field, text] : recorded["settings"].items())
      require(set_field(visit, field, text.get<std::string>(), system), "[test] {} has no field {}", system, field);
    config->inputs[0] = batch["inputs"], config->outputs = batch["outputs"];
    model_ = make_writer(system, Scope(parameters_), *config);
    fill_by_name(parameters_);
    source_ = sentences(batch["sources"]), previous_ = sentences(batch["previous"]);
  }
  // Without randomness: dropout is off.
  Var loss() const {
    return model_->forward(source_, previous_).words.cross_entropy(expected_after(previous_), {.average = false});
  }

  Parameters parameters_;
  std::unique_ptr<Writer> model_;
  Source source_, previous_;
};
INSTANTIATE_TEST_SUITE_P(Translation, ReferenceModel, testing::ValuesIn(recorded_models()), name_of);

TEST_P(ReferenceModel, GivesTheSameLogitsAndLoss) {
  const nlohmann::json& recorded = GetParam().model;
  const Tensor logits = model_->forward(source_, previous_).words.logits().value().contiguous();
  for (Index b = 0; b < previous_.batch(); ++b) {
    const auto rows = recorded["logits"].at(static_cast<std::size_t>(b)).get<std::vector<std::vector<double>>>();
    ASSERT_EQ(static_cast<Index>(rows.size()), previous_.lengths.at({b}));
    for (std::size_t t = 0; t < rows.size(); ++t) {
      ASSERT_EQ(static_cast<Index>(rows[t].size()), logits.size(2));
      for (std::size_t word = 0; word < rows[t].size(); ++word)
        EXPECT_NEAR(logits.at({b, static_cast<Index>(t), static_cast<Index>(word)}), rows[t][word], kTolerance)
            << "sentence " << b << " place " << t << " word " << word;
    }
  }
  EXPECT_NEAR(loss().value().item(), recorded["loss"].get<double>(), kTolerance);
}

TEST_P(ReferenceModel, HasTheSameParametersAndGradients) {
  const nlohmann::json& recorded = GetParam().model["gradients"];
  const Gradients gradients = backward(loss());
  EXPECT_EQ(parameters_.entries().size(), recorded.size());
  for (const Parameters::Entry& entry : parameters_.entries()) {
    ASSERT_TRUE(recorded.contains(entry.name)) << entry.name;
    const auto sizes = recorded[entry.name]["shape"].get<std::vector<Index>>();
    const auto values = recorded[entry.name]["values"].get<std::vector<double>>();
    const Tensor gradient = gradients.of(entry.var).contiguous();
    ASSERT_EQ(gradient.shape(), Shape(std::span<const Index>(sizes))) << entry.name;
    double furthest = 0;
    for (Index i = 0; i < gradient.size(); ++i) {
      const double off = std::abs(gradient.data()[i] - values[static_cast<std::size_t>(i)]);
      furthest = off <= furthest ? furthest : off;  // a NaN stays
    }
    EXPECT_LE(furthest, kTolerance) << entry.name;
  }
}

TEST_P(ReferenceModel, LearnsAtTheSamePace) {
  const auto rate = GetParam().batch["rate"].get<double>();
  const auto losses = GetParam().model["losses"].get<std::vector<double>>();
  ASSERT_EQ(losses.size(), 10U);
  for (std::size_t step = 0; step < losses.size(); ++step) {
    const Var now = loss();
    EXPECT_NEAR(now.value().item(), losses[step], kTolerance) << "step " << step;
    const Gradients gradients = backward(now);
    for (Parameters::Entry& entry : parameters_.entries()) {
      const Tensor gradient = gradients.of(entry.var).contiguous();
      Tensor& value = entry.var.value();
      for (Index i = 0; i < value.size(); ++i) value.data()[i] -= rate * gradient.data()[i];
    }
  }
}

}  // namespace
}  // namespace heed::test
