// Every optimiser against torch.optim's recorded numbers and against its formula written out again in double. These
// tests are part of both programs: in double the agreement is a proof, in float it shows the rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/train/optimiser.h"

namespace heed {
namespace {

using nlohmann::json;

constexpr bool kDouble = sizeof(Real) == 8;

OptimiserOptions options_from(const std::string& name, const json& fields) {
  OptimiserOptions options = optimiser_named(name);
  options.weight_decay = fields.value("weight_decay", 0.0);
  if (Sgd* sgd = std::get_if<Sgd>(&options.algorithm)) {
    sgd->momentum = fields.value("momentum", sgd->momentum);
    sgd->nesterov = fields.value("nesterov", sgd->nesterov);
  } else if (Adagrad* adagrad = std::get_if<Adagrad>(&options.algorithm)) {
    adagrad->epsilon = fields.value("eps", adagrad->epsilon);
  } else if (Adadelta* adadelta = std::get_if<Adadelta>(&options.algorithm)) {
    adadelta->rho = fields.value("rho", adadelta->rho);
    adadelta->epsilon = fields.value("eps", adadelta->epsilon);
  } else if (Rmsprop* rmsprop = std::get_if<Rmsprop>(&options.algorithm)) {
    rmsprop->alpha = fields.value("alpha", rmsprop->alpha);
    rmsprop->epsilon = fields.value("eps", rmsprop->epsilon);
    rmsprop->momentum = fields.value("momentum", rmsprop->momentum);
    rmsprop->centred = fields.value("centered", rmsprop->centred);
  } else if (Adam* adam = std::get_if<Adam>(&options.algorithm)) {
    if (fields.contains("betas")) adam->beta1 = fields["betas"][0], adam->beta2 = fields["betas"][1];
    adam->epsilon = fields.value("eps", adam->epsilon);
  }
  return options;
}

Tensor tensor_of(const std::vector<double>& values) {
  Tensor tensor(Shape{static_cast<Index>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data()[i] = static_cast<Real>(values[i]);
  return tensor;
}

Initialiser from(const std::vector<double>& values) {
  return [values](Tensor& tensor, RandomKey) {
    for (std::size_t i = 0; i < values.size(); ++i) tensor.data()[i] = static_cast<Real>(values[i]);
  };
}

TEST(OptimiserFormulas, EqualTorch) {
  std::ifstream file(HEED_SOURCE_DIR "/tests/train/optimiser_cases.json");
  ASSERT_TRUE(file) << "tests/train/optimiser_cases.json is missing";
  const json recorded = json::parse(file);
  ASSERT_GE(recorded["cases"].size(), 18u);
  for (const json& each : recorded["cases"]) {
    SCOPED_TRACE(each["algorithm"].dump() + " " + each["options"].dump());
    Parameters parameters;
    const Var x = parameters.add("x", Shape{6}, from(recorded["start"]));
    Optimiser optimiser(options_from(each["algorithm"], each["options"]));
    for (std::size_t t = 0; t < recorded["rates"].size(); ++t) {
      Gradients gradients;
      // Handed over at twice the size, so that the gradient scale is part of what is compared.
      std::vector<double> twice = recorded["gradients"][t];
      for (double& g : twice) g *= 2;
      gradients.add(x, tensor_of(twice));
      optimiser.step(parameters, gradients, recorded["rates"][t].get<Real>(), Real{0.5});
      for (std::size_t i = 0; i < 6; ++i) {
        const double expected = each["values"][t][i];
        EXPECT_NEAR(x.value().data()[i], expected, (kDouble ? 1e-13 : 4e-6) * (1 + std::abs(expected)))
            << "step " << t + 1 << " element " << i;
      }
    }
  }
}

// One number through `steps` updates, with gradient sin(t) and the formula in `next(x, g, t)`.
template <class Next>
void expect_formula(const OptimiserOptions& options, double rate, Next next) {
  Parameters parameters;
  const Var x = parameters.add("x", Shape{1}, init::constant(0.75));
  Optimiser optimiser(options);
  double expected = 0.75;
  for (int t = 1; t <= 20; ++t) {
    Gradients gradients;
    gradients.add(x, Tensor(Shape{1}, static_cast<Real>(std::sin(t))));
    optimiser.step(parameters, gradients, static_cast<Real>(rate));
    expected = next(expected, static_cast<double>(static_cast<Real>(std::sin(t))), t);
    EXPECT_NEAR(x.value().item(), expected, kDouble ? 1e-13 : 1e-5) << "step " << t;
  }
}

TEST(OptimiserFormulas, Sgd) {
  expect_formula({.algorithm = Sgd{}}, 0.125, [](double x, double g, int) { return x - 0.125 * g; });
}

TEST(OptimiserFormulas, SgdWithDecoupledDecay) {
  expect_formula({.algorithm = Sgd{}, .weight_decay = 0.5, .decoupled = true}, 0.125,
                 [](double x, double g, int) { return x - 0.125 * 0.5 * x - 0.125 * g; });
}

TEST(OptimiserFormulas, Momentum) {
  double v = 0;
  expect_formula({.algorithm = Sgd{.momentum = 0.9}}, 0.125, [&](double x, double g, int) {
    v = 0.9 * v + g;
    return x - 0.125 * v;
  });
}

// Gehring et al. 2017, as in their code: the same path as ours at a constant rate.
TEST(OptimiserFormulas, NesterovIsGehringsAtAConstantRate) {
  const double rate = 0.25, mu = 0.99;
  double v = 0;
  expect_formula({.algorithm = Sgd{.momentum = mu, .nesterov = true}}, rate, [&](double x, double g, int) {
    x += mu * mu * v - (1 + mu) * rate * g;
    v = mu * v - rate * g;
    return x;
  });
}

TEST(OptimiserFormulas, Adagrad) {
  double s = 0;
  expect_formula({.algorithm = Adagrad{.epsilon = 1e-3}}, 0.125, [&](double x, double g, int) {
    s += g * g;
    return x - 0.125 * g / (std::sqrt(s) + 1e-3);
  });
}

TEST(OptimiserFormulas, Adadelta) {
  double s = 0, d = 0;
  expect_formula({.algorithm = Adadelta{.rho = 0.95, .epsilon = 1e-2}}, 1, [&](double x, double g, int) {
    s = 0.95 * s + 0.05 * g * g;
    const double delta = -std::sqrt((d + 1e-2) / (s + 1e-2)) * g;  // Zeiler's sign
    d = 0.95 * d + 0.05 * delta * delta;
    return x + delta;
  });
}

TEST(OptimiserFormulas, Rmsprop) {
  double s = 0, m = 0, v = 0;
  expect_formula({.algorithm = Rmsprop{.alpha = 0.9, .epsilon = 1e-2, .momentum = 0.5, .centred = true}}, 0.125,
                 [&](double x, double g, int) {
                   s = 0.9 * s + 0.1 * g * g;
                   m = 0.9 * m + 0.1 * g;
                   v = 0.5 * v + g / (std::sqrt(s - m * m) + 1e-2);
                   return x - 0.125 * v;
                 });
}

TEST(OptimiserFormulas, Adam) {
  double m = 0, s = 0;
  expect_formula({.algorithm = Adam{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9}}, 0.125,
                 [&](double x, double g, int t) {
                   m = 0.9 * m + 0.1 * g;
                   s = 0.98 * s + 0.02 * g * g;
                   const double m_hat = m / (1 - std::pow(0.9, t)), s_hat = s / (1 - std::pow(0.98, t));
                   return x - 0.125 * m_hat / (std::sqrt(s_hat) + 1e-9);
                 });
}

TEST(OptimiserFormulas, AdamW) {
  double m = 0, s = 0;
  expect_formula({.algorithm = Adam{}, .weight_decay = 0.5, .decoupled = true}, 0.125, [&](double x, double g, int t) {
    m = 0.9 * m + 0.1 * g;
    s = 0.999 * s + 0.001 * g * g;
    const double m_hat = m / (1 - std::pow(0.9, t)), s_hat = s / (1 - std::pow(0.999, t));
    return x - 0.125 * (m_hat / (std::sqrt(s_hat) + 1e-8) + 0.5 * x);
  });
}

}  // namespace
}  // namespace heed
