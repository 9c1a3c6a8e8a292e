#include "heed/autograd/ops/shape.h"

#include "heed/autograd/ops/elementwise.h"
#include "support/op_cases.h"

namespace heed::test {
namespace {

Shape shape_from(const nlohmann::json& list) {
  const auto sizes = list.get<std::vector<Index>>();
  return Shape(std::span<const Index>(sizes));
}

const RegisterOps shape_ops{
    {"reshape",
     {{{Shape{2, 6}}, {{"shape", {3, 4}}}}, {{Shape{2, 3}}, {{"shape", {6, 1, 1}}}}},
     [](std::span<const Var> x, const Attributes& a) { return reshape(x[0], shape_from(a.at("shape"))); }},
    {"transpose",
     {{{Shape{2, 3}}, {{"axes", {0, 1}}}}, {{Shape{2, 3, 4}}, {{"axes", {0, -1}}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return transpose(x[0], a.at("axes")[0].get<int>(), a.at("axes")[1].get<int>());
     }},
    {"slice",
     {{{Shape{4, 3}}, {{"axis", 0}, {"begin", 1}, {"end", 3}}},
      {{Shape{2, 5, 3}}, {{"axis", 1}, {"begin", 0}, {"end", 4}}},
      {{Shape{2, 5}}, {{"axis", -1}, {"begin", 2}, {"end", 2}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return slice(x[0], a.at("axis").get<int>(), a.at("begin").get<Index>(), a.at("end").get<Index>());
     }},
    {"split",  // pieces recombined, so that several slices add up in one gradient
     {{{Shape{2, 5, 3}}, {{"axis", 1}, {"sizes", {2, 1, 2}}}}, {{Shape{6}}, {{"axis", 0}, {"sizes", {2, 2, 2}}}}},
     [](std::span<const Var> x, const Attributes& a) {
       const auto sizes = a.at("sizes").get<std::vector<Index>>();
       const std::vector<Var> pieces = split(x[0], a.at("axis").get<int>(), sizes);
       return tanh(pieces[0]) * pieces[2] + pieces[0];
     }},
    {"concat",
     {{{Shape{2, 3}, Shape{2, 1}, Shape{2, 2}}, {{"axis", 1}}}, {{Shape{2, 3}, Shape{1, 3}}, {{"axis", 0}}}},
     [](std::span<const Var> x, const Attributes& a) { return concat(x, a.at("axis").get<int>()); }},
    {"stack",
     {{{Shape{2, 3}, Shape{2, 3}}, {{"axis", 1}}}, {{Shape{3}, Shape{3}}, {{"axis", -1}}}},
     [](std::span<const Var> x, const Attributes& a) { return stack(x, a.at("axis").get<int>()); }},
    {"pad",
     {{{Shape{2, 3}}, {{"axis", 1}, {"before", 2}, {"after", 1}, {"value", 0.5}}},
      {{Shape{2, 3, 2}}, {{"axis", 0}, {"before", 0}, {"after", 2}, {"value", 0.0}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return pad(x[0], a.at("axis").get<int>(), a.at("before").get<Index>(), a.at("after").get<Index>(),
                  a.at("value").get<Real>());
     }},
    {"gather",
     {{{Shape{4, 3}}, {{"axis", 0}, {"ids", {2, 0, 2}}}}, {{Shape{2, 4, 3}}, {{"axis", 1}, {"ids", {3, 3, 1, 0, 2}}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return gather(x[0], a.at("axis").get<int>(), ids_from(a.at("ids")));
     }},
    {"pick",
     {{{Shape{3, 4}}, {{"ids", {1, 3, 0}}}}, {{Shape{2, 2, 5}}, {{"ids", {{0, 4}, {2, 2}}}}}},
     [](std::span<const Var> x, const Attributes& a) { return pick(x[0], ids_from(a.at("ids"))); }},
    {"expand",
     {{{Shape{1, 3}}, {{"shape", {4, 3}}}}, {{Shape{2, 1, 2}}, {{"shape", {3, 2, 5, 2}}}}},
     [](std::span<const Var> x, const Attributes& a) { return expand(x[0], shape_from(a.at("shape"))); }},
};

}  // namespace
}  // namespace heed::test
