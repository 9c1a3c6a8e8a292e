#include "heed/autograd/ops/reduce.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

template <class F>
OpCase axis_case(const char* op, F f) {
  return {op,
          {{{Shape{5}}, {{"axis", 0}}},
           {{Shape{3, 70}}, {{"axis", -1}}},
           {{Shape{4, 33}}, {{"axis", 0}}},
           {{Shape{2, 3, 4}}, {{"axis", 1}}}},
          [f](std::span<const Var> x, const Attributes& a) { return f(x[0], a.at("axis").get<int>()); }};
}

const RegisterOps reduce_ops{
    axis_case("sum", [](const Var& x, int axis) { return sum(x, axis); }),
    axis_case("mean", [](const Var& x, int axis) { return mean(x, axis); }),
    axis_case("largest", [](const Var& x, int axis) { return largest(x, axis); }),
    {"sum_all", {{{Shape{2, 3}}}, {{Shape{}}}}, [](std::span<const Var> x, const Attributes&) { return sum(x[0]); }},
    {"mean_all", {{{Shape{2, 3}}}}, [](std::span<const Var> x, const Attributes&) { return mean(x[0]); }},
};

}  // namespace
}  // namespace heed::test
