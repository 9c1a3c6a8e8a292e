#include "heed/autograd/ops/matrix.h"

#include <map>

#include "support/op_cases.h"

namespace heed::test {
namespace {

Activation activation_from(const Attributes& attributes) {
  static const std::map<std::string, Activation> names = {{"identity", Activation::identity},
                                                          {"tanh", Activation::tanh},
                                                          {"sigmoid", Activation::sigmoid},
                                                          {"relu", Activation::relu},
                                                          {"gelu", Activation::gelu}};
  return names.at(attributes.value("activation", "identity"));
}

const RegisterOps matrix_ops{
    {"matmul",
     {{{Shape{3, 4}, Shape{4, 5}}},
      {{Shape{4, 3}, Shape{4, 5}}, {{"transpose_a", true}}},
      {{Shape{3, 4}, Shape{5, 4}}, {{"transpose_b", true}}},
      {{Shape{4, 3}, Shape{5, 4}}, {{"transpose_a", true}, {"transpose_b", true}}},
      {{Shape{2, 3, 4}, Shape{4, 5}}},
      {{Shape{2, 3, 4}, Shape{5, 4}}, {{"transpose_b", true}}},
      {{Shape{2, 4, 3}, Shape{4, 5}}, {{"transpose_a", true}}},
      {{Shape{2, 3, 4}, Shape{2, 4, 5}}},
      {{Shape{2, 1, 3, 4}, Shape{3, 4, 2}}},
      {{Shape{3, 4}, Shape{2, 4, 5}}},
      {{Shape{1, 4}, Shape{4, 1}}},
      {{Shape{3, 0}, Shape{0, 2}}},
      {{Shape{0, 3}, Shape{3, 2}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return matmul(x[0], x[1], {a.value("transpose_a", false), a.value("transpose_b", false)});
     }},
    {"linear",
     {{{Shape{3, 4}, Shape{4, 5}, Shape{5}}},
      {{Shape{3, 4}, Shape{4, 5}}},
      {{Shape{2, 3, 4}, Shape{4, 5}, Shape{5}}, {{"activation", "tanh"}}},
      {{Shape{2, 4}, Shape{4, 3}}, {{"activation", "sigmoid"}}},
      {{Shape{2, 4}, Shape{4, 3}, Shape{3}}, {{"activation", "relu"}}},
      {{Shape{2, 4}, Shape{4, 3}, Shape{3}}, {{"activation", "gelu"}}},
      {{Shape{4}, Shape{4, 3}, Shape{3}}},
      {{Shape{2, 3, 4}, Shape{5, 4}, Shape{5}}, {{"flip", true}, {"activation", "tanh"}}},
      {{Shape{7, 4}, Shape{3, 4}}, {{"flip", true}}},
      {{Shape{0, 4}, Shape{4, 3}, Shape{3}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return linear(x[0], x[1], x.size() > 2 ? x[2] : Var(), activation_from(a), {.b = a.value("flip", false)});
     }},
};

}  // namespace
}  // namespace heed::test
