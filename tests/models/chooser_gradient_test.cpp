#include <gtest/gtest.h>

#include "heed/autograd/gradient_check.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/reduce.h"
#include "models/chooser_cases.h"

namespace heed::test {
namespace {

class EveryChooserGradient : public testing::TestWithParam<ChooserVariant> {};
INSTANTIATE_TEST_SUITE_P(Choosers, EveryChooserGradient, testing::ValuesIn(every_chooser_variant()),
                         [](const auto& at) { return test_name(at.param); });

// Of the loss, the alignment and the penalty, by every number of every parameter that is learned.
TEST_P(EveryChooserGradient, IsThatOfCentralDifferences) {
  TinyChooser tiny(GetParam());
  for (const WordTable& table : tiny.model->word_tables())
    if (table.frozen) {
      Tensor frozen = table.frozen.value();
      std::fill(frozen.values().begin(), frozen.values().end(), Real{0});
    }
  const std::vector<Source> texts = some_texts(GetParam());
  Ids labels(Shape{3}, 0);
  labels.data()[1] = 2, labels.data()[2] = 1;
  std::vector<Var> leaves;
  for (const Parameters::Entry& entry : tiny.parameters.entries())
    if (!entry.name.ends_with(".frozen")) leaves.push_back(entry.var);
  const auto& settings = GetParam().variant.settings;
  const bool samples = settings.contains("normaliser") && settings.at("normaliser") == "hard";
  const auto loss = [&] {
    Random random(1);
    const Chosen chosen = tiny.chooser->forward(texts, {.random = samples ? nullptr : &random, .alignment = true});
    Var total = cross_entropy(chosen.scores, labels);
    if (chosen.alignment) total = total + sum(square(chosen.alignment));
    return chosen.penalty ? total + chosen.penalty : total;
  };
  const GradientCheck check = check_gradient(loss, leaves);
  EXPECT_LE(check.worst, 1e-7) << GetParam() << " " << check.where;
}

// Gates on the weights of the alignment have a gradient where the model attends, and change nothing where they are 1.
TEST_P(EveryChooserGradient, OfTheGatesIsThatOfCentralDifferences) {
  const TinyChooser tiny(GetParam());
  const std::vector<Source> texts = only_sample(some_texts(GetParam()), 0);
  const Ids label(Shape{1}, 1);
  const Chosen plain = tiny.chooser->forward(texts, {.alignment = true});
  if (!plain.alignment) GTEST_SKIP() << "it attends to nothing";
  const Var gates = Var::leaf(Tensor(plain.alignment.shape(), Real{1}));
  const auto loss = [&] { return cross_entropy(tiny.chooser->forward(texts, {.gates = gates}).scores, label); };
  EXPECT_NEAR(loss().value().item(), cross_entropy(plain.scores, label).value().item(), 1e-12);
  const GradientCheck check = check_gradient(loss, {gates});
  EXPECT_LE(check.worst, 1e-7) << GetParam() << " " << check.where;
}

}  // namespace
}  // namespace heed::test
