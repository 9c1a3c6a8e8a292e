#include "heed/autograd/ops/matrix.h"

#include "heed/autograd/tensor_math.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

// So few rows are likely a step of many over the same weight, whose gradients are better computed together.
constexpr Index kRowsOfAStep = 256;

}  // namespace

Var matmul(const Var& a, const Var& b, Transposed flip) {
  require(a.rank() >= 2 && b.rank() >= 2, "[matmul] needs matrices, not shapes {} and {}", a.shape(), b.shape());
  const Tensor x = flip.a ? transposed(a.value()) : a.value(), y = flip.b ? transposed(b.value()) : b.value();
  const Tensor left = kept_if(b.wants_gradient(), x), right = kept_if(a.wants_gradient(), y);
  // One row a matrix is likely a step of many that attend to the same b.
  const bool step =
      y.rank() > 2 && x.size(-2) == 1 && x.shape().leading(x.rank() - 2) == y.shape().leading(y.rank() - 2);
  return record(
      "matmul", product(x, y, "matmul"), {a, b},
      [left, right, flip, flat = y.rank() == 2, step, memory = b.shape()](const Tensor& dy, Wanted wanted) {
        // C = A B: dA = dC Bᵀ, dB = Aᵀ dC; of a transposed operand the transpose is computed.
        Tensor da;
        Gradient db;
        if (wanted(0))
          da = flip.a ? product(right, transposed(dy), "matmul") : product(dy, transposed(right), "matmul");
        if (wanted(1)) {
          if (step) {
            db = Gradient::of_products(memory, {flip.b ? ProductGradient{dy, left} : ProductGradient{left, dy}});
          } else if (flat && left.rank() > 2) {  // the sum over the batch is part of the product
            const Tensor rows = as_rows(left), drows = as_rows(dy);
            db = flip.b ? product(transposed(drows), rows, "matmul") : product(transposed(rows), drows, "matmul");
          } else {
            db = flip.b ? product(transposed(dy), left, "matmul") : product(transposed(left), dy, "matmul");
          }
        }
        return grads(std::move(da), std::move(db));
      });
}

const Int8Weight* int8_factor(const Var& weight, Transposed flip) {
  const Int8Weight* const int8 = weight.int8();
  const auto outputs = flip.b ? Int8Weight::Outputs::first : Int8Weight::Outputs::last;
  return int8 && int8->outputs() == outputs ? int8 : nullptr;
}

Var linear(const Var& x, const Var& weight, const Var& bias, Activation activation, Transposed flip) {
  require(x.rank() >= 1 && weight.rank() == 2 && x.size(-1) == weight.size(flip.b ? 1 : 0),
          "[linear] input {} does not fit weight {}", x.shape(), weight.shape());
  const Index out = weight.size(flip.b ? 0 : 1);
  require(!bias || bias.shape() == Shape{out}, "[linear] bias {} does not fit weight {}", bias.shape(), weight.shape());
  const Int8Weight* const int8 = int8_factor(weight, flip);
  const Tensor input = as_rows(x.value());
  const Tensor w = int8 ? Tensor() : flip.b ? transposed(weight.value()) : weight.value();
  const Index rows = input.size(0);
  const Shape shape = x.shape().with(-1, out);
  const bool plain = activation == Activation::identity;

  Tensor y = int8 ? int8->product(input) : product(input, w, "linear");
  Tensor saved;  // what the activation's derivative is computed from
  if (plain) {
    if (bias) kernels::bias_activation(activation, rows, out, y.data(), bias.value().contiguous().data(), y.data());
  } else if (kernels::saves_output(activation)) {
    kernels::bias_activation(activation, rows, out, y.data(), bias ? bias.value().contiguous().data() : nullptr,
                             y.data());
    saved = y;
  } else {
    saved = y;
    if (bias)
      kernels::bias_activation(Activation::identity, rows, out, y.data(), bias.value().contiguous().data(), y.data());
    y = apply(activation, saved);
  }

  const auto closure = [input = kept_if(weight.wants_gradient(), input), w = kept_if(x.wants_gradient(), w), saved,
                        activation, rows, out, plain, flip, matrix = weight.shape()](const Tensor& dy, Wanted wanted) {
    Tensor dz = dy.reshape(Shape{rows, out});
    if (!plain) {
      Tensor before(dz.shape());
      kernels::unary_backward(activation, dz.size(), dz.data(), saved.data(), before.data());
      dz = before;
    }
    Tensor dx, db;
    Gradient dw;
    if (wanted(0)) dx = product(dz, transposed(w), "linear").reshape(dy.shape().with(-1, w.size(0)));
    if (wanted(1)) {
      dw = Gradient::of_products(matrix, {flip.b ? ProductGradient{dz, input} : ProductGradient{input, dz}});
      if (rows > kRowsOfAStep) dw.settle();
    }
    if (wanted(2)) {
      db = Tensor(Shape{out});
      kernels::sum(1, rows, out, dz.data(), db.data());
    }
    return grads(std::move(dx), std::move(dw), std::move(db));
  };
  return record("linear", y.reshape(shape), {x, weight, bias}, closure);
}

}  // namespace heed
