#include "heed/attention/additive.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

OpExample additive_example(Index batch, Index heads, Index n, Index m, Index width, Attributes attributes = {}) {
  return {{Shape{batch, heads, n, width}, Shape{batch, heads, m, width}, Shape{width}}, std::move(attributes)};
}

// With `features` numbers a key, and their map.
OpExample featured(Index batch, Index heads, Index n, Index m, Index width, Index features,
                   Attributes attributes = {}) {
  OpExample result = additive_example(batch, heads, n, m, width, std::move(attributes));
  result.shapes.push_back(Shape{batch, heads, m, features});
  result.shapes.push_back(Shape{features, width});
  return result;
}

const RegisterOps additive_ops{
    {"additive_scores",
     {additive_example(2, 1, 1, 5, 7), additive_example(1, 2, 3, 4, 17),
      additive_example(2, 2, 2, 3, 5, {{"lengths", {2, 0}}}), additive_example(1, 1, 0, 3, 4),
      additive_example(1, 1, 2, 0, 4), featured(2, 2, 1, 18, 5, 3, {{"lengths", {17, 2}}}), featured(1, 1, 3, 4, 17, 1),
      featured(1, 1, 0, 3, 4, 2), featured(1, 1, 2, 0, 4, 2)},
     [](std::span<const Var> x, const Attributes& a) {
       const KeyFeatures features = x.size() > 3 ? KeyFeatures{x[3], x[4]} : KeyFeatures{};
       return additive_scores(x[0], x[1], x[2], a.contains("lengths") ? ids_from(a.at("lengths")) : Ids(), features);
     }},
};

}  // namespace
}  // namespace heed::test
