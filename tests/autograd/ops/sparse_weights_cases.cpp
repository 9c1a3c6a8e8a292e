#include "heed/autograd/ops/sparse_weights.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

// Random rows stand a step of 1e-5 or more away from where a position enters or leaves the support.
template <class F>
OpCase projection_case(const char* op, F f) {
  return {op,
          {{{Shape{7}}},
           {{Shape{4, 9}}},
           {{Shape{2, 3, 5}}, {{"mask", {{{1, 1, 1, 1, 1}}, {{1, 0, 1, 1, 0}}}}}},
           {{Shape{3, 4}}, {{"mask", {{1, 1, 0, 1}, {0, 0, 0, 0}, {0, 1, 0, 0}}}}},
           {{Shape{2, 1}}},
           {{Shape{0, 3}}},
           {{Shape{2, 0}}}},
          [f](std::span<const Var> x, const Attributes& a) {
            return f(x[0], a.contains("mask") ? mask_from(a.at("mask")) : Mask());
          }};
}

const RegisterOps sparse_weights_ops{
    projection_case("sparsemax", [](const Var& x, const Mask& mask) { return sparsemax(x, mask); }),
    projection_case("entmax15", [](const Var& x, const Mask& mask) { return entmax15(x, mask); }),
    {"monotonic",
     {{{Shape{6}, Shape{6}}, {}, 0.05, 0.95},
      {{Shape{2, 3, 1, 5}, Shape{2, 3, 1, 5}}, {}, 0.05, 0.95},
      {{Shape{2, 1}, Shape{2, 1}}, {}, 0.05, 0.95},
      {{Shape{2, 0}, Shape{2, 0}}, {}, 0.05, 0.95}},
     [](std::span<const Var> x, const Attributes&) { return monotonic_weights(x[0], x[1]); }},
};

}  // namespace
}  // namespace heed::test
