#include "heed/autograd/ops/norm.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

const RegisterOps norm_ops{
    {"layer_norm",
     {{{Shape{3, 5}, Shape{5}, Shape{5}}},
      {{Shape{2, 3, 19}, Shape{19}, Shape{19}}},
      {{Shape{0, 4}, Shape{4}, Shape{4}}}},
     [](std::span<const Var> x, const Attributes&) { return layer_norm(x[0], x[1], x[2]); }},
    {"residual_layer_norm",
     {{{Shape{70, 5}, Shape{70, 5}, Shape{5}, Shape{5}}}, {{Shape{2, 17}, Shape{2, 17}, Shape{17}, Shape{17}}}},
     [](std::span<const Var> x, const Attributes&) { return residual_layer_norm(x[0], x[1], x[2], x[3]); }},
    {"weight_norm",
     {{{Shape{4, 3}, Shape{3}}}, {{Shape{2, 3, 5}, Shape{5}}}},
     [](std::span<const Var> x, const Attributes&) { return weight_norm(x[0], x[1]); }},
};

}  // namespace
}  // namespace heed::test
