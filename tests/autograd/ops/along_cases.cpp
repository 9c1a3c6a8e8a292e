#include "heed/autograd/ops/along.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

const RegisterOps along_ops{
    {"take_along",
     {{{Shape{2, 4}}, {{"ids", {{3, 0, 0}, {1, 1, 2}}}}},
      {{Shape{2, 3, 2, 5}}, {{"ids", {{4, 0, 2, 2, 4, 1}, {0, 0, 0, 3, 4, 2}}}}},
      {{Shape{3, 1, 1}}, {{"ids", {{0, 0}}}}}},
     [](std::span<const Var> x, const Attributes& a) { return take_along(x[0], ids_from(a.at("ids"))); }},
    {"sum_along",
     {{{Shape{2, 3}}, {{"ids", {{3, 0, 0}, {1, 1, 2}}}, {"classes", 4}}},
      {{Shape{2, 2, 2, 4}}, {{"ids", {{4, 0, 2, 2}, {0, 0, 0, 3}}}, {"classes", 5}}},
      {{Shape{3, 1, 2}}, {{"ids", {{0, 0}}}, {"classes", 1}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return sum_along(x[0], ids_from(a.at("ids")), a.at("classes").get<Index>());
     }},
};

}  // namespace
}  // namespace heed::test
