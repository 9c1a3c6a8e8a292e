#include "heed/autograd/ops/elementwise.h"

#include "heed/autograd/tensor_math.h"
#include "heed/kernels/elementwise.h"

namespace heed {

using kernels::Binary;
using kernels::Unary;

Var add(const Var& a, const Var& b) {
  return record("add", combine(Binary::add, a.value(), b.value(), "add"), {a, b},
                [](const Tensor& dy) { return grads(dy, dy); });
}

Var subtract(const Var& a, const Var& b) {
  return record(
      "subtract", combine(Binary::subtract, a.value(), b.value(), "subtract"), {a, b},
      [](const Tensor& dy, Wanted wanted) { return grads(dy, wanted(1) ? apply(Unary::negate, dy) : Tensor()); });
}

Var multiply(const Var& a, const Var& b) {
  const Tensor x = kept_if(b.wants_gradient(), a.value()), y = kept_if(a.wants_gradient(), b.value());
  return record("multiply", combine(Binary::multiply, a.value(), b.value(), "multiply"), {a, b},
                [x, y](const Tensor& dy, Wanted wanted) {
                  return grads(wanted(0) ? multiply(dy, y) : Tensor(), wanted(1) ? multiply(dy, x) : Tensor());
                });
}

Var divide(const Var& a, const Var& b) {
  const Tensor y = b.value();
  const Tensor z = combine(Binary::divide, a.value(), y, "divide");
  return record("divide", z, {a, b}, [y, z](const Tensor& dy, Wanted wanted) {
    const Tensor da = combine(Binary::divide, dy, y, "divide");
    return grads(da, wanted(1) ? apply(Unary::negate, multiply(da, z)) : Tensor());
  });
}

Var scale(const Var& x, Real factor) {
  return record("scale", scaled(x.value(), factor), {x},
                [factor](const Tensor& dy) { return grads(scaled(dy, factor)); });
}

namespace {

Var unary(const char* op, Unary f, const Var& x) {
  const Tensor input = x.value().contiguous();
  const Tensor y = apply(f, input);
  return record(op, y, {x}, [f, saved = kernels::saves_output(f) ? y : input](const Tensor& dy) {
    Tensor dx(dy.shape());
    kernels::unary_backward(f, dy.size(), dy.data(), saved.data(), dx.data());
    return grads(dx);
  });
}

}  // namespace

Var negate(const Var& x) { return unary("negate", Unary::negate, x); }
Var tanh(const Var& x) { return unary("tanh", Unary::tanh, x); }
Var sigmoid(const Var& x) { return unary("sigmoid", Unary::sigmoid, x); }
Var relu(const Var& x) { return unary("relu", Unary::relu, x); }
Var relu6(const Var& x) { return unary("relu6", Unary::relu6, x); }
Var gelu(const Var& x) { return unary("gelu", Unary::gelu, x); }
Var exp(const Var& x) { return unary("exp", Unary::exp, x); }
Var log(const Var& x) { return unary("log", Unary::log, x); }
Var sqrt(const Var& x) { return unary("sqrt", Unary::sqrt, x); }
Var square(const Var& x) { return unary("square", Unary::square, x); }

Var maxout(const Var& x, Index pieces) {
  require(x.rank() >= 1 && pieces >= 1 && x.size(-1) % pieces == 0,
          "[maxout] the last axis of shape {} does not split into groups of {}", x.shape(), pieces);
  const Tensor input = x.value().contiguous();
  Tensor y(x.shape().with(-1, x.size(-1) / pieces));
  kernels::maxout(y.size(), pieces, input.data(), y.data());
  return record("maxout", y, {x}, [input, pieces](const Tensor& dy) {
    Tensor dx(input.shape());
    kernels::maxout_backward(dy.size(), pieces, dy.data(), input.data(), dx.data());
    return grads(dx);
  });
}

Var glu(const Var& x) {
  require(x.rank() >= 1 && x.size(-1) % 2 == 0, "[glu] the last axis of shape {} does not split into halves",
          x.shape());
  const Tensor input = x.value().contiguous();
  const Index n = x.size(-1) / 2, rows = n == 0 ? 0 : x.size() / (2 * n);
  Tensor y(x.shape().with(-1, n));
  kernels::glu(rows, n, input.data(), y.data());
  return record("glu", y, {x}, [input, rows, n](const Tensor& dy) {
    Tensor dx(input.shape());
    kernels::glu_backward(rows, n, dy.data(), input.data(), dx.data());
    return grads(dx);
  });
}

Var scale_gradient(const Var& x, Real factor) {
  return record("scale_gradient", x.value(), {x}, [factor](const Tensor& dy) { return grads(scaled(dy, factor)); });
}

}  // namespace heed
