#include "heed/autograd/ops/ctc.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

const RegisterOps ctc_ops{
    {"ctc_loss",
     {{{Shape{1, 4, 3}}, {{"labels", {{1, 2}}}, {"counts", {2}}, {"lengths", {4}}}},
      {{Shape{3, 6, 4}},
       {{"labels", {{1, 1, 3}, {2, 9, 9}, {9, 9, 9}}}, {"counts", {3, 1, 0}}, {"lengths", {6, 4, 2}}}},
      {{Shape{2, 3, 5}}, {{"labels", {{4, 4}, {0, 1}}}, {"counts", {2, 2}}, {"lengths", {3, 3}}, {"blank", 3}}},
      {{Shape{2, 2, 4}}, {{"labels", {{2, 2}, {2, 3}}}, {"counts", {2, 2}}, {"lengths", {2, 2}}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return ctc_loss(x[0], ids_from(a.at("lengths")),
                       {ids_from(a.at("labels")), ids_from(a.at("counts")), a.value("blank", 0)},
                       CtcImpossible::nothing);
     }},
};

}  // namespace
}  // namespace heed::test
