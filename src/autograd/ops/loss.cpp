#include "heed/autograd/ops/loss.h"

#include <algorithm>

#include "heed/autograd/tensor_math.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/reduce.h"
#include "heed/kernels/softmax.h"

namespace heed {
namespace {

// Label smoothing (Szegedy et al. 2016): q = (1-ε) [target] + ε/V;  loss = -Σ q log p = log Σ exp x - Σ q x
struct Expected {
  Ids ids;                          // contiguous
  std::vector<std::int32_t> taken;  // those that take part
  std::vector<Index> rows;          // and where they stand
  kernels::TargetWeights weights;
  Tensor factors;  // of the loss of each of those
};

Expected expected_of(const char* op, const Ids& targets, Index classes, const CrossEntropy& options) {
  const double smoothing = options.label_smoothing;
  require(smoothing >= 0 && smoothing < 1, "[{}] label smoothing {} is outside [0, 1)", op, smoothing);
  require(!options.spare_target || classes > 1, "[{}] smoothing over other classes needs at least 2", op);
  require(!options.weights || options.weights.shape() == targets.shape(), "[{}] weights {} do not fit targets {}", op,
          options.weights.shape(), targets.shape());
  Expected expected;
  expected.ids = targets.contiguous();
  for (Index row = 0; row < expected.ids.size(); ++row) {
    const std::int32_t id = expected.ids.data()[row];
    if (id == options.ignore) continue;
    require(id >= 0 && id < classes, "[{}] target {} is outside the {} classes", op, id, classes);
    expected.taken.push_back(id);
    expected.rows.push_back(row);
  }
  const double each =
      options.spare_target ? smoothing / static_cast<double>(classes - 1) : smoothing / static_cast<double>(classes);
  expected.weights = {static_cast<Real>(1 - each * static_cast<double>(classes)), static_cast<Real>(each),
                      options.ignore};
  const bool divided = options.average && !expected.taken.empty();
  const Real factor = divided ? Real{1} / static_cast<Real>(expected.taken.size()) : Real{1};
  expected.factors = Tensor(Shape{static_cast<Index>(expected.rows.size())}, factor);
  if (!options.weights) return expected;
  const Tensor weights = options.weights.contiguous();
  for (std::size_t i = 0; i < expected.rows.size(); ++i) expected.factors.data()[i] *= weights.data()[expected.rows[i]];
  return expected;
}

double weighted_total(const Real* values, const Real* factors, Index n) {
  double total = 0;
  for (Index i = 0; i < n; ++i) total += static_cast<double>(values[i]) * static_cast<double>(factors[i]);
  return total;
}

}  // namespace

Var cross_entropy(const Var& logits, const Ids& targets, const CrossEntropy& options) {
  require(logits.rank() >= 1 && logits.size(-1) > 0 && targets.shape() == logits.shape().without(-1),
          "[cross_entropy] targets {} do not fit logits {}", targets.shape(), logits.shape());
  const Index classes = logits.size(-1), rows = targets.size();
  const Expected expected = expected_of("cross_entropy", targets, classes, options);

  Tensor x = logits.value().contiguous();
  Tensor log_sum(targets.shape()), loss(targets.shape());
  kernels::cross_entropy(rows, classes, x.data(), expected.ids.data(), expected.weights, log_sum.data(), loss.data());
  Tensor factors(targets.shape(), Real{0});
  for (std::size_t i = 0; i < expected.rows.size(); ++i) factors.data()[expected.rows[i]] = expected.factors.data()[i];
  const double total = weighted_total(loss.data(), factors.data(), rows);

  return record(
      "cross_entropy", Tensor::scalar(static_cast<Real>(total)), {logits},
      [x, ids = expected.ids, log_sum, weights = expected.weights, factors, rows, classes](const Tensor& dy) mutable {
        kernels::scale(rows, dy.item(), factors.data(), factors.data());
        Tensor dx = x.unique() ? x : Tensor(x.shape());  // over the logits if no one else holds them
        kernels::cross_entropy_backward(rows, classes, x.data(), ids.data(), weights, log_sum.data(), factors.data(),
                                        dx.data());
        x = Tensor();
        return grads(std::move(dx));
      });
}

namespace {

// About so many rows of logits are made together: few enough to be in cache when their gradients are made and used,
// many enough for products at full speed (docs/decisions/0012). All parts have as many rows, since each of them,
// however small, reads the weights twice and their gradient once.
constexpr Index kRowsTogether = 128;

}  // namespace

// With L = x W + b and the loss's gradient dL of some rows at hand, dx = dL Wᵀ, dW += xᵀ dL and db += Σ dL follow at
// once. The loss is a number, so that backward has but to scale them.
Var linear_cross_entropy(const Var& x, const Var& weight, const Var& bias, const Ids& targets,
                         const CrossEntropy& options, Transposed flip) {
  require(weight.rank() == 2 && weight.size() > 0 && !flip.a, "[linear_cross_entropy] weights {} are not a matrix",
          weight.shape());
  const Index in = weight.size(flip.b ? 1 : 0), classes = weight.size(flip.b ? 0 : 1);
  require(x.rank() >= 1 && x.size(-1) == in && targets.shape() == x.shape().without(-1),
          "[linear_cross_entropy] input {} does not fit weights {} and targets {}", x.shape(), weight.shape(),
          targets.shape());
  require(!bias || bias.shape() == Shape{classes}, "[linear_cross_entropy] bias {} does not fit {} classes",
          bias.shape(), classes);
  const Expected expected = expected_of("linear_cross_entropy", targets, classes, options);
  const Index rows = static_cast<Index>(expected.rows.size());
  const Index parts = std::max<Index>(1, (rows + kRowsTogether / 2) / kRowsTogether);
  const Index together = (rows + parts - 1) / parts;
  const auto wanted = [](const Var& input) { return recording() && input.wants_gradient(); };

  const Int8Weight* const int8 = int8_factor(weight, flip);
  const Tensor given = as_rows(x.value()).contiguous(), w = int8 ? Tensor() : weight.value().contiguous();
  const Tensor b = bias ? bias.value().contiguous() : Tensor();
  // The first rows' products write the weights' gradient, the others add to it; without rows there are zeros.
  Tensor dx = wanted(x) ? Tensor(x.shape(), 0) : Tensor(), dw = wanted(weight) ? Tensor(weight.shape()) : Tensor(),
         db = wanted(bias) ? Tensor(bias.shape(), 0) : Tensor();
  if (dw && rows == 0) std::fill_n(dw.data(), dw.size(), Real{0});
  Tensor inputs(Shape{together, in}), logits(Shape{together, classes}), log_sum(Shape{together}), loss(Shape{together}),
      of_inputs(Shape{together, in}), of_bias(Shape{classes});
  const Index stride = weight.size(1);
  const kernels::Matrix matrix{w.data(), stride, flip.b}, turned{w.data(), stride, !flip.b};
  double total = 0;
  for (Index begin = 0; begin < rows; begin += together) {
    const Index n = std::min(together, rows - begin);
    const std::int32_t* const ids = expected.taken.data() + begin;
    const Index* const places = expected.rows.data() + begin;
    for (Index i = 0; i < n; ++i) std::copy_n(given.data() + places[i] * in, in, inputs.data() + i * in);
    if (int8)
      int8->multiply(n, inputs.data(), in, 0, classes, false, logits.data(), classes);
    else
      kernels::gemm(n, classes, in, 1, {inputs.data(), in}, matrix, 0, logits.data(), classes);
    if (b) kernels::bias_activation(Activation::identity, n, classes, logits.data(), b.data(), logits.data());
    kernels::cross_entropy(n, classes, logits.data(), ids, expected.weights, log_sum.data(), loss.data());
    const Real* const factors = expected.factors.data() + begin;
    total += weighted_total(loss.data(), factors, n);
    if (!dx && !dw && !db) continue;

    kernels::cross_entropy_backward(n, classes, logits.data(), ids, expected.weights, log_sum.data(), factors,
                                    logits.data());
    if (dx) {
      kernels::gemm(n, in, classes, 1, {logits.data(), classes}, turned, 0, of_inputs.data(), in);
      for (Index i = 0; i < n; ++i) std::copy_n(of_inputs.data() + i * in, in, dx.data() + places[i] * in);
    }
    const kernels::Matrix left{inputs.data(), in, !flip.b}, right{logits.data(), classes, flip.b};
    const Real before = begin > 0 ? 1 : 0;
    if (dw && flip.b) kernels::gemm(classes, in, n, 1, right, left, before, dw.data(), in);
    if (dw && !flip.b) kernels::gemm(in, classes, n, 1, left, right, before, dw.data(), classes);
    if (db) {
      kernels::sum(1, n, classes, logits.data(), of_bias.data());
      kernels::accumulate(classes, of_bias.data(), db.data());
    }
  }

  return record("linear_cross_entropy", Tensor::scalar(static_cast<Real>(total)), {x, weight, bias},
                [dx, dw, db](const Tensor& dy) mutable {
                  for (Tensor* gradient : {&dx, &dw, &db})
                    if (*gradient && dy.item() != 1)
                      kernels::scale(gradient->size(), dy.item(), gradient->data(), gradient->data());
                  return grads(std::move(dx), std::move(dw), std::move(db));
                });
}

}  // namespace heed
