#include "heed/autograd/ops/loss.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

CrossEntropy options_from(const Attributes& a) {
  CrossEntropy options;
  options.label_smoothing = a.value("label_smoothing", 0.0);
  options.spare_target = a.value("spare_target", false);
  options.ignore = a.value("ignore", -1);
  options.average = a.value("average", true);
  if (a.contains("weights")) {
    const Ids weights = ids_from(a.at("weights"));
    options.weights = Tensor(weights.shape());
    for (Index i = 0; i < weights.size(); ++i) options.weights.data()[i] = static_cast<Real>(weights.data()[i]);
  }
  return options;
}

const RegisterOps loss_ops{
    {"cross_entropy",
     {{{Shape{3, 5}}, {{"targets", {1, 0, 4}}}},
      {{Shape{3, 5}}, {{"targets", {1, 0, 4}}, {"label_smoothing", 0.1}}},
      {{Shape{2, 2, 19}}, {{"targets", {{1, 18}, {0, 0}}}, {"label_smoothing", 0.2}, {"ignore", 0}}},
      {{Shape{3, 5}}, {{"targets", {1, 0, 4}}, {"label_smoothing", 0.1}, {"spare_target", true}}},
      {{Shape{3, 5}}, {{"targets", {1, 2, 4}}, {"average", false}}},
      {{Shape{2, 3}}, {{"targets", {0, 0}}, {"ignore", 0}}},
      {{Shape{4, 5}}, {{"targets", {1, 0, 4, 2}}, {"ignore", 0}, {"average", false}, {"weights", {2, 7, -1, 0}}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return cross_entropy(x[0], ids_from(a.at("targets")), options_from(a));
     }},
    {"linear_cross_entropy",
     {{{Shape{3, 4}, Shape{4, 5}, Shape{5}}, {{"targets", {1, 0, 4}}, {"label_smoothing", 0.1}}},
      {{Shape{2, 2, 3}, Shape{19, 3}, Shape{19}}, {{"targets", {{1, 18}, {0, 0}}}, {"ignore", 0}, {"flip", true}}},
      {{Shape{3, 2}, Shape{5, 2}}, {{"targets", {1, 0, 4}}, {"average", false}, {"flip", true}}},
      {{Shape{3, 2}, Shape{2, 5}}, {{"targets", {1, 2, 4}}, {"label_smoothing", 0.2}, {"spare_target", true}}},
      {{Shape{2, 3}, Shape{3, 3}, Shape{3}}, {{"targets", {0, 0}}, {"ignore", 0}}},
      {{Shape{4, 2}, Shape{2, 5}, Shape{5}}, {{"targets", {1, 0, 4, 2}}, {"ignore", 0}, {"weights", {2, 7, -1, 0}}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return linear_cross_entropy(x[0], x[1], x.size() > 2 ? x[2] : Var(), ids_from(a.at("targets")), options_from(a),
                                   {.b = a.value("flip", false)});
     }},
};

}  // namespace
}  // namespace heed::test
