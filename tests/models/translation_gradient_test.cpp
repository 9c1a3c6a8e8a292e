#include <gtest/gtest.h>

#include "heed/autograd/gradient_check.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/reduce.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

class EveryVariantGradient : public testing::TestWithParam<SystemVariant> {};
INSTANTIATE_TEST_SUITE_P(Writers, EveryVariantGradient, testing::ValuesIn(every_variant()),
                         [](const auto& at) { return at.param.name(); });

// Of the loss, the alignment and the penalty, by every number of every parameter.
TEST_P(EveryVariantGradient, IsThatOfCentralDifferences) {
  SystemVariant variant = GetParam();
  // What is turned off here is no gradient: convs2s_test.cpp has it.
  if (variant.system == "convs2s") variant.settings["scale-encoder-gradient"] = "false";
  TinyModel tiny(variant);
  const Source source = as_read_by(variant, sentences({{3, 7, 4, 2}, {5, 2}}));
  const Source previous = sentences({{1, 4}, {1, 9, 10}});
  const Ids expected = expected_after(previous);
  std::vector<Var> leaves;
  for (const Parameters::Entry& entry : tiny.parameters.entries()) leaves.push_back(entry.var);
  // A sampled choice has no derivative: hard attention is checked as it decodes.
  const auto is_hard = [&](const char* field) {
    const auto found = variant.settings.find(field);
    return found != variant.settings.end() && found->second == "hard";
  };
  const bool samples = is_hard("normaliser") || is_hard("attention");
  const auto loss = [&] {
    Random random(1);
    const ForwardOptions options{.random = samples ? nullptr : &random, .alignment = true};
    const TeacherForced forced = tiny.model->forward(source, previous, options);
    Var total = forced.words.cross_entropy(expected);
    if (forced.alignment) total = total + sum(square(forced.alignment));
    return forced.penalty ? total + forced.penalty : total;
  };
  if (variant.settings.contains("coverage-loss")) {
    Random random(1);
    EXPECT_TRUE(tiny.model->forward(source, previous, {.random = &random}).penalty);
  }
  const GradientCheck check = check_gradient(loss, leaves);
  EXPECT_LE(check.worst, 1e-7) << GetParam() << " " << check.where;
}

}  // namespace
}  // namespace heed::test
