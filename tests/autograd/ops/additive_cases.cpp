#include "heed/attention/additive.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

OpExample example(Index batch, Index heads, Index n, Index m, Index width, Attributes attributes = {}) {
  return {{Shape{batch, heads, n, width}, Shape{batch, heads, m, width}, Shape{width}}, std::move(attributes)};
}

const RegisterOps ops{
    {"additive_scores",
     {example(2, 1, 1, 5, 7), example(1, 2, 3, 4, 17), example(2, 2, 2, 3, 5, {{"lengths", {2, 0}}}),
      example(1, 1, 0, 3, 4), example(1, 1, 2, 0, 4)},
     [](std::span<const Var> x, const Attributes& a) {
       return additive_scores(x[0], x[1], x[2], a.contains("lengths") ? ids_from(a.at("lengths")) : Ids());
     }},
};

}  // namespace
}  // namespace heed::test
