// In double: the gradient that explains a model is the one that finite differences give.

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/jobs/faithfulness.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

class AttentionGradients : public testing::TestWithParam<TranslationVariant> {};

TEST_P(AttentionGradients, AreThoseOfFiniteDifferences) {
  const TinyModel tiny(GetParam());
  const TokenPair pair{{5, 3, 8, 5, kEnd}, {4, 7, 9, kEnd}};
  const auto n = static_cast<Index>(pair.target.size()), m = static_cast<Index>(pair.source.size());
  const Source source = sentences({pair.source}), previous = sentences({{kBegin, 4, 7, 9}});
  // ln p(y_t) with the weight of step t on token j changed by the factor 1 + by.
  const auto log_probability = [&](Index t, Index j, double by) {
    Tensor gates(Shape{1, n, m}, Real{1});
    gates.data()[t * m + j] += static_cast<Real>(by);
    ForwardOptions options;
    options.gates = Var(gates);
    const NoGradient off;
    const Tensor logits = tiny.model->forward(source, previous, options).words.logits().value();
    const Index vocabulary = logits.size(-1);
    return static_cast<double>(
        log_probabilities_of(logits.reshape(Shape{n, vocabulary})).at({t, pair.target[static_cast<std::size_t>(t)]}));
  };
  const Tensor gradients = attention_gradients(*tiny.model, pair);
  ASSERT_EQ(gradients.shape(), (Shape{n, m - 1}));
  const double step = 1e-5;
  for (Index t = 0; t < n; ++t)
    for (Index j = 0; j + 1 < m; ++j) {
      const double difference = (log_probability(t, j, step) - log_probability(t, j, -step)) / (2 * step);
      EXPECT_NEAR(static_cast<double>(gradients.at({t, j})), std::abs(difference), 1e-8) << t << " " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Systems, AttentionGradients, testing::ValuesIn(every_variant()),
                         [](const auto& at) { return at.param.name(); });

}  // namespace
}  // namespace heed::test
