#include "heed/autograd/ops/elementwise.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

template <class F>
OpCase unary_case(const char* op, F f, double low = 0, double high = 0) {
  return {op,
          {{{Shape{7}}, {}, low, high}, {{Shape{3, 19}}, {}, low, high}, {{Shape{2, 0, 3}}, {}, low, high}},
          [f](std::span<const Var> x, const Attributes&) { return f(x[0]); }};
}

template <class F>
OpCase binary_case(const char* op, F f, double low = 0, double high = 0) {
  return {op,
          {{{Shape{2, 3}, Shape{2, 3}}, {}, low, high},
           {{Shape{4, 17}, Shape{17}}, {}, low, high},
           {{Shape{2, 3, 5}, Shape{2, 1, 5}}, {}, low, high},
           {{Shape{3, 1}, Shape{1, 4}}, {}, low, high},
           {{Shape{}, Shape{2, 2}}, {}, low, high},
           {{Shape{2, 1, 3, 1}, Shape{4, 1, 5}}, {}, low, high}},
          [f](std::span<const Var> x, const Attributes&) { return f(x[0], x[1]); }};
}

const RegisterOps elementwise_ops{
    binary_case("add", [](const Var& a, const Var& b) { return add(a, b); }),
    binary_case("subtract", [](const Var& a, const Var& b) { return subtract(a, b); }),
    binary_case("multiply", [](const Var& a, const Var& b) { return multiply(a, b); }),
    binary_case(
        "divide", [](const Var& a, const Var& b) { return divide(a, b); }, 0.5, 2),
    unary_case("negate", [](const Var& x) { return negate(x); }),
    unary_case("tanh", [](const Var& x) { return tanh(x); }),
    unary_case("sigmoid", [](const Var& x) { return sigmoid(x); }),
    unary_case("relu", [](const Var& x) { return relu(x); }),
    unary_case(
        "relu6", [](const Var& x) { return relu6(x); }, -3, 9),
    unary_case("gelu", [](const Var& x) { return gelu(x); }),
    unary_case("exp", [](const Var& x) { return exp(x); }),
    unary_case(
        "log", [](const Var& x) { return log(x); }, 0.5, 2),
    unary_case(
        "sqrt", [](const Var& x) { return sqrt(x); }, 0.5, 2),
    unary_case("square", [](const Var& x) { return square(x); }),
    {"scale",
     {{{Shape{3, 5}}, {{"factor", -1.5}}}},
     [](std::span<const Var> x, const Attributes& a) { return scale(x[0], a.at("factor").get<Real>()); }},
    {"maxout",
     {{{Shape{3, 6}}, {{"pieces", 2}}}, {{Shape{2, 2, 9}}, {{"pieces", 3}}}},
     [](std::span<const Var> x, const Attributes& a) { return maxout(x[0], a.at("pieces").get<Index>()); }},
    {"glu",
     {{{Shape{3, 6}}}, {{Shape{2, 2, 34}}}},
     [](std::span<const Var> x, const Attributes&) { return glu(x[0]); }},
};

}  // namespace
}  // namespace heed::test
