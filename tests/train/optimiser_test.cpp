#include "heed/train/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/train/clip.h"
#include "support/messages.h"

namespace heed {
namespace {

const std::vector<OptimiserOptions>& all_options() {
  static const std::vector<OptimiserOptions> list = {
      {.algorithm = Sgd{}},
      {.algorithm = Sgd{}, .weight_decay = 0.1},
      {.algorithm = Sgd{}, .weight_decay = 0.1, .decoupled = true},
      {.algorithm = Sgd{.momentum = 0.9}},
      {.algorithm = Sgd{.momentum = 0.9, .nesterov = true}},
      {.algorithm = Adagrad{}},
      {.algorithm = Adagrad{}, .weight_decay = 0.1},
      {.algorithm = Adadelta{}},
      {.algorithm = Rmsprop{}},
      {.algorithm = Rmsprop{.momentum = 0.5, .centred = true}},
      {.algorithm = Adam{}},
      {.algorithm = Adam{}, .weight_decay = 0.1, .decoupled = true},
  };
  return list;
}

constexpr Index kRows = 37, kColumns = 5;

// A table and a vector that no sparse gradient reaches.
struct TableModel {
  TableModel() {
    table = parameters.add("table", Shape{kRows, kColumns}, init::normal(1));
    bias = parameters.add("bias", Shape{3}, init::normal(1));
  }
  Parameters parameters;
  Var table, bias;
};

// Rows with repeated ids in two parts; which rows depends on the step.
Gradient rows_at(int step) {
  RandomSequence random(RandomKey{static_cast<std::uint64_t>(step), 1});
  Gradient gradient;
  for (int part = 0; part < 2; ++part) {
    Ids ids(Shape{6});
    Tensor rows(Shape{6, kColumns});
    for (auto& id : ids.values()) id = static_cast<std::int32_t>(random.below(kRows / 2));
    ids.data()[1] = ids.data()[0];
    for (Real& x : rows.values()) x = static_cast<Real>(random.normal());
    gradient.add(Gradient::of_rows(ids, rows));
  }
  return gradient;
}

Gradients gradients_at(const TableModel& model, int step, bool dense) {
  Gradients gradients;
  const Gradient rows = rows_at(step);
  gradients.add(model.table, dense ? Gradient(rows.to_dense(model.table.shape())) : rows);
  gradients.add(model.bias, Tensor(Shape{3}, static_cast<Real>(std::cos(step))));
  return gradients;
}

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (Index i = 0; i < a.size(); ++i) ASSERT_EQ(a.data()[i], b.data()[i]) << "element " << i;
}

TEST(Optimiser, SparseGradientsAreExact) {
  for (std::size_t k = 0; k < all_options().size(); ++k) {
    SCOPED_TRACE(k);
    TableModel dense, sparse;
    Optimiser dense_optimiser(all_options()[k]), sparse_optimiser(all_options()[k]);
    for (int step = 1; step <= 5; ++step) {
      dense_optimiser.step(dense.parameters, gradients_at(dense, step, true), Real(0.1), Real(0.5));
      sparse_optimiser.step(sparse.parameters, gradients_at(sparse, step, false), Real(0.1), Real(0.5));
      expect_same(dense.table.value(), sparse.table.value());
    }
    const TrainingState a = dense_optimiser.state(), b = sparse_optimiser.state();
    ASSERT_EQ(a.tensors.size(), b.tensors.size());
    for (std::size_t i = 0; i < a.tensors.size(); ++i) expect_same(a.tensors[i].tensor, b.tensors[i].tensor);
  }
}

TEST(Optimiser, LazyTouchesOnlyItsRows) {
  for (OptimiserOptions options : all_options()) {
    options.lazy = true;
    TableModel model;
    Optimiser optimiser(options);
    // Twice, so that there is momentum that would move the other rows.
    for (int step = 1; step <= 2; ++step) {
      const Tensor before = model.table.value().copy();
      const TrainingState live = optimiser.state();
      std::vector<Tensor> states_before;
      for (const NamedTensor& each : live.tensors) states_before.push_back(each.tensor.copy());
      optimiser.step(model.parameters, gradients_at(model, step, false), Real(0.1));
      const RowGradient touched = rows_at(step).merged();
      std::vector<bool> is_touched(kRows);
      for (const auto id : touched.ids.values()) is_touched[static_cast<std::size_t>(id)] = true;
      for (Index row = 0; row < kRows; ++row)
        for (Index i = row * kColumns; i < (row + 1) * kColumns; ++i) {
          if (is_touched[static_cast<std::size_t>(row)]) {
            EXPECT_NE(model.table.value().data()[i], before.data()[i]) << "row " << row;
          } else {
            EXPECT_EQ(model.table.value().data()[i], before.data()[i]) << "row " << row;
            for (std::size_t s = 0; s < states_before.size(); ++s) {
              if (!live.tensors[s].name.starts_with("table.")) continue;
              EXPECT_EQ(live.tensors[s].tensor.data()[i], states_before[s].data()[i]) << live.tensors[s].name;
            }
          }
        }
    }
  }
}

// In the first step no state has moved yet, so that zeros move nothing.
TEST(Optimiser, LazyIsExactInTheFirstStep) {
  TableModel lazy, exact;
  Optimiser(OptimiserOptions{.lazy = true}).step(lazy.parameters, gradients_at(lazy, 1, false), Real(0.1));
  Optimiser(OptimiserOptions{}).step(exact.parameters, gradients_at(exact, 1, false), Real(0.1));
  expect_same(lazy.table.value(), exact.table.value());
}

TEST(Optimiser, LeavesParametersWithoutAGradient) {
  TableModel model;
  Optimiser optimiser({.algorithm = Adam{}, .weight_decay = 0.1});
  const Tensor bias = model.bias.value().copy();
  Gradients gradients;
  gradients.add(model.table, rows_at(1));
  optimiser.step(model.parameters, gradients, Real(0.1));
  expect_same(model.bias.value(), bias);
  EXPECT_EQ(optimiser.state().numbers.size(), 1u);  // and its steps are not counted
  optimiser.step(model.parameters, gradients_at(model, 2, false), Real(0.1));
  EXPECT_EQ(optimiser.state().number("bias.steps", "test"), 1);
  EXPECT_EQ(optimiser.state().number("table.steps", "test"), 2);
}

TEST(Optimiser, ASavedStateContinuesBitIdentically) {
  for (std::size_t k = 0; k < all_options().size(); ++k) {
    SCOPED_TRACE(k);
    TableModel model, resumed;
    Optimiser optimiser(all_options()[k]);
    for (int step = 1; step <= 3; ++step) optimiser.step(model.parameters, gradients_at(model, step, false), Real(0.1));

    std::copy_n(model.table.value().data(), model.table.size(), resumed.table.value().data());
    std::copy_n(model.bias.value().data(), model.bias.size(), resumed.bias.value().data());
    Optimiser other(all_options()[k]);
    other.load_state(resumed.parameters, optimiser.state());
    for (int step = 4; step <= 6; ++step) {
      optimiser.step(model.parameters, gradients_at(model, step, false), Real(0.1));
      other.step(resumed.parameters, gradients_at(resumed, step, false), Real(0.1));
    }
    expect_same(model.table.value(), resumed.table.value());
    expect_same(model.bias.value(), resumed.bias.value());
  }
}

TEST(Optimiser, RefusesAStateThatDoesNotFit) {
  TableModel model;
  Optimiser adam;
  adam.step(model.parameters, gradients_at(model, 1, true), Real(0.1));
  TrainingState state = adam.state();

  EXPECT_EQ(test::message_of([&] { Optimiser({.algorithm = Adadelta{}}).load_state(model.parameters, state); }),
            "[optimiser] the saved state has no tensor bias.squares");
  EXPECT_EQ(test::message_of([&] { Optimiser({.algorithm = Sgd{}}).load_state(model.parameters, state); }),
            "[optimiser] the saved state has 4 tensors for 2 parameters; this algorithm keeps 0 for each");
  Parameters others;
  EXPECT_EQ(test::message_of([&] { adam.load_state(others, state); }), "[parameters] there is no parameter bias");
  state.tensors[0].tensor = Tensor(Shape{4}, Real{0});
  EXPECT_EQ(test::message_of([&] { adam.load_state(model.parameters, state); }),
            "[optimiser] the saved first of bias has shape [4], the parameter [3]");
  state.numbers[0].number = 1.5;
  EXPECT_EQ(test::message_of([&] { adam.load_state(model.parameters, state); }),
            "[optimiser] the saved number bias.steps = 1.5 is not a count of steps");
  EXPECT_EQ(adam.state().number("bias.steps", "test"), 1);  // the failures changed nothing
}

TEST(Optimiser, RefusesNonsense) {
  EXPECT_EQ(test::message_of([] { Optimiser({.algorithm = Adam{.beta1 = 1}}); }),
            "[optimiser] beta1 must be in [0, 1), not 1");
  EXPECT_EQ(test::message_of([] { Optimiser({.algorithm = Adam{.beta2 = -0.5}}); }),
            "[optimiser] beta2 must be in [0, 1), not -0.5");
  EXPECT_EQ(test::message_of([] { Optimiser({.algorithm = Adagrad{.epsilon = -1}}); }),
            "[optimiser] epsilon must be 0 or more and finite, not -1");
  EXPECT_EQ(test::message_of([] { Optimiser({.algorithm = Adadelta{.rho = 1.5}}); }),
            "[optimiser] rho must be in [0, 1), not 1.5");
  EXPECT_EQ(test::message_of([] { Optimiser({.algorithm = Rmsprop{.alpha = NAN}}); }),
            "[optimiser] alpha must be in [0, 1), not nan");
  EXPECT_EQ(test::message_of([] { Optimiser({.algorithm = Sgd{.nesterov = true}}); }),
            "[optimiser] nesterov needs a momentum above 0");
  EXPECT_EQ(test::message_of([] { Optimiser({.weight_decay = -1}); }),
            "[optimiser] weight_decay must be 0 or more and finite, not -1");
  EXPECT_EQ(test::message_of([] { optimiser_named("adma"); }),
            "[optimiser] adma is not one of sgd, nesterov, adagrad, adadelta, rmsprop, adam, adamw");

  TableModel model;
  Optimiser optimiser;
  EXPECT_EQ(test::message_of([&] { optimiser.step(model.parameters, {}, -1); }),
            "[optimiser] the learning rate must be 0 or more and finite, not -1");
  EXPECT_EQ(test::message_of([&] { optimiser.step(model.parameters, {}, 1, INFINITY); }),
            "[optimiser] the gradient scale must be finite, not inf");
  Gradients gradients;
  gradients.add(model.bias, Tensor(Shape{4}, Real{1}));
  EXPECT_EQ(test::message_of([&] { optimiser.step(model.parameters, gradients, 1); }),
            "[optimiser] the gradient of bias has shape [4], the parameter [3]");
  Gradients outside;
  outside.add(model.table, Gradient::of_rows(Ids(Shape{2}, {1, kRows}), Tensor(Shape{2, kColumns}, Real{1})));
  EXPECT_EQ(test::message_of([&] { optimiser.step(model.parameters, outside, 1); }),
            "[optimiser] gradient row 37 is outside a table of 37 rows");
  Gradients narrow;
  narrow.add(model.table, Gradient::of_rows(Ids(Shape{2}, {1, 2}), Tensor(Shape{2, 4}, Real{1})));
  EXPECT_EQ(test::message_of([&] { optimiser.step(model.parameters, narrow, 1); }),
            "[optimiser] gradient rows of shape [2, 4] for 2 ids do not fit a table of width 5");
}

TEST(Optimiser, AcceptsAGradientThatIsAView) {
  Parameters a, b;
  const Var x = a.add("x", Shape{2, 3}, init::zeros()), y = b.add("x", Shape{2, 3}, init::zeros());
  const Tensor columns(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  Gradients view, packed;
  view.add(x, columns.transpose(0, 1));
  packed.add(y, columns.transpose(0, 1).copy());
  Optimiser(optimiser_named("sgd")).step(a, view, 1);
  Optimiser(optimiser_named("sgd")).step(b, packed, 1);
  EXPECT_EQ(x.value().at({0, 1}), -3);
  expect_same(x.value(), y.value());
}

TEST(Clip, TheNormIsTheDenseOne) {
  TableModel model;
  const double dense = global_norm(gradients_at(model, 1, true), model.parameters);
  EXPECT_NEAR(global_norm(gradients_at(model, 1, false), model.parameters), dense, 1e-6 * dense);
  const Tensor table = rows_at(1).to_dense(model.table.shape());
  double squares = 3 * std::pow(std::cos(1), 2);
  for (const Real x : table.values()) squares += static_cast<double>(x) * static_cast<double>(x);
  EXPECT_NEAR(dense, std::sqrt(squares), 1e-6 * dense);
  EXPECT_EQ(global_norm({}, model.parameters), 0);
}

TEST(Clip, Factors) {
  EXPECT_EQ(clip_factor(10, 5), Real{0.5});
  EXPECT_EQ(clip_factor(5, 5), Real{1});
  EXPECT_EQ(clip_factor(0, 5), Real{1});
  EXPECT_EQ(renormalise_factor(0.25, 0.5), Real{2});
  EXPECT_EQ(renormalise_factor(8, 0.5), Real{0.0625});
  EXPECT_EQ(renormalise_factor(0, 0.5), Real{1});
  EXPECT_EQ(test::message_of([] { clip_factor(NAN, 5); }), "[clip] the gradient norm is nan");
  EXPECT_EQ(test::message_of([] { clip_factor(INFINITY, 5); }), "[clip] the gradient norm is inf");
  EXPECT_EQ(test::message_of([] { clip_factor(1, 0); }), "[clip] max_norm must be above 0 and finite, not 0");
  EXPECT_EQ(test::message_of([] { renormalise_factor(1, -1); }),
            "[clip] the target norm must be above 0 and finite, not -1");
}

TEST(Clip, TheFactorInTheStepEqualsScaledGradients) {
  for (const OptimiserOptions& options : all_options()) {
    TableModel factor, scaled;
    Gradients gradients = gradients_at(scaled, 1, true);
    gradients.find(scaled.table)->scale(Real{0.25});
    gradients.find(scaled.bias)->scale(Real{0.25});
    Optimiser(options).step(factor.parameters, gradients_at(factor, 1, true), Real(0.1), Real{0.25});
    Optimiser(options).step(scaled.parameters, gradients, Real(0.1));
    expect_same(factor.table.value(), scaled.table.value());
  }
}

}  // namespace
}  // namespace heed
