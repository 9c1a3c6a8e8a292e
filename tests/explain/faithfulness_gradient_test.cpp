// In double: the gradient that explains a model is the one that finite differences give.

#include <gtest/gtest.h>

#include <cmath>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/data/symbols.h"
#include "heed/explain/faithfulness.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

class AttentionGradients : public testing::TestWithParam<SystemVariant> {};

TEST_P(AttentionGradients, AreThoseOfFiniteDifferences) {
  const TinyModel tiny(GetParam());
  const std::vector<std::int32_t> output{4, 7, 9, kEnd};
  const Source source = as_read_by(GetParam(), sentences({{5, 3, 8, 5, kEnd}}));
  const Source previous = sentences({{kBegin, 4, 7, 9}});
  const auto n = static_cast<Index>(output.size()), m = source.longest();
  EncodedInput read{.words = {5, 3, 8, 5}};
  if (source.features) read = {.features = source.features.reshape(Shape{m, source.features.size(2)})};
  const Index places = read.length();  // all but the end of a text
  // ln p(y_t) with the weight of step t on token j changed by the factor 1 + by. What copies adds such a weight to p
  // itself, and p is not made to sum to 1 again.
  const auto log_probability = [&](Index t, Index j, double by) {
    Tensor gates(Shape{1, n, m}, Real{1});
    gates.data()[t * m + j] += static_cast<Real>(by);
    ForwardOptions options;
    options.gates = Var(gates);
    const NoGradient off;
    Ids expected(Shape{1, n}, -1);
    expected.data()[t] = output[static_cast<std::size_t>(t)];
    const Var loss = tiny.model->forward(source, previous, options).words.cross_entropy(expected, {.average = false});
    return -static_cast<double>(loss.value().item());
  };
  const Tensor gradients = writer_evidence(*tiny.model, read, output)->gradients();
  ASSERT_EQ(gradients.shape(), (Shape{n, places}));
  const double step = 1e-5;
  for (Index t = 0; t < n; ++t)
    for (Index j = 0; j < places; ++j) {
      const double difference = (log_probability(t, j, step) - log_probability(t, j, -step)) / (2 * step);
      EXPECT_NEAR(static_cast<double>(gradients.at({t, j})), std::abs(difference), 1e-8) << t << " " << j;
    }
}

TEST(LabelGradients, AreThoseOfFiniteDifferences) {
  const System& system = system_named("shades");
  const std::unique_ptr<Config> config = system.config("small");
  config->inputs = {2}, config->outputs = 3;
  Parameters parameters;
  const std::unique_ptr<Model> model = system.make(Scope(parameters), *config);
  const auto& chooser = dynamic_cast<const Chooser&>(*model);
  randomise(parameters, 3, 0.6);
  const Index m = 5;
  const Tensor features = random_tensor(Shape{m, 2}, 4);
  const std::vector<Source> inputs{
      {.words = {}, .lengths = Ids(Shape{1}, m), .features = features.reshape(Shape{1, m, 2})}};
  const auto log_probability = [&](Index label, Index j, double by) {
    ForwardOptions options;
    Tensor gates(Shape{1, 1, m}, Real{1});
    gates.data()[j] += static_cast<Real>(by);
    options.gates = Var(gates);
    const NoGradient off;
    return static_cast<double>(log_probabilities_of(chooser.forward(inputs, options).scores.value()).at({0, label}));
  };
  const double step = 1e-5;
  for (const std::int32_t label : {0, 1, 2}) {
    const Tensor gradients =
        chooser_evidence(chooser, {.inputs = {{.features = features}}, .output = {label}})->gradients();
    ASSERT_EQ(gradients.shape(), (Shape{1, m}));
    for (Index j = 0; j < m; ++j) {
      const double difference = (log_probability(label, j, step) - log_probability(label, j, -step)) / (2 * step);
      EXPECT_NEAR(static_cast<double>(gradients.at({0, j})), std::abs(difference), 1e-8) << label << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, AttentionGradients, testing::ValuesIn(every_variant()),
                         [](const auto& at) { return at.param.name(); });

}  // namespace
}  // namespace heed::test
