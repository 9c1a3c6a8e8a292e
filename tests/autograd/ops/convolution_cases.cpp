#include "heed/autograd/ops/convolution.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

// "padding" is one of none, same, causal; the third input, if there is one, is the bias.
Convolution1d options_1d(const Attributes& a) {
  Convolution1d options;
  options.stride = a.value("stride", Index{1});
  options.dilation = a.value("dilation", Index{1});
  const std::string padding = a.value("padding", "none");
  options.padding = padding == "same" ? Padding::same : padding == "causal" ? Padding::causal : Padding::none;
  return options;
}

// Pairs [height, width].
HeightWidth pair_or(const Attributes& a, const char* name, Index otherwise) {
  if (!a.contains(name)) return {otherwise, otherwise};
  return {a.at(name).at(0).get<Index>(), a.at(name).at(1).get<Index>()};
}

Convolution2d options_2d(const Attributes& a) {
  return {pair_or(a, "stride", 1), pair_or(a, "dilation", 1), pair_or(a, "padding", 0), pair_or(a, "behind", 0)};
}

const RegisterOps convolution_ops{
    {"conv1d",
     {{{Shape{2, 5, 3}, Shape{3, 3, 4}, Shape{4}}},
      {{Shape{2, 5, 3}, Shape{3, 3, 4}}},
      {{Shape{2, 6, 3}, Shape{3, 3, 2}, Shape{2}}, {{"padding", "same"}}},
      {{Shape{1, 6, 2}, Shape{4, 2, 3}, Shape{3}}, {{"padding", "same"}}},
      {{Shape{2, 7, 2}, Shape{3, 2, 2}, Shape{2}}, {{"padding", "causal"}, {"dilation", 2}}},
      {{Shape{1, 9, 2}, Shape{3, 2, 3}}, {{"stride", 2}}},
      {{Shape{2, 8, 2}, Shape{2, 2, 3}, Shape{3}}, {{"stride", 3}, {"dilation", 2}, {"padding", "same"}}},
      {{Shape{2, 4, 3}, Shape{1, 3, 5}, Shape{5}}},
      {{Shape{0, 4, 3}, Shape{2, 3, 5}, Shape{5}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return conv1d(x[0], x[1], x.size() > 2 ? x[2] : Var(), options_1d(a));
     }},
    {"conv2d",
     {{{Shape{2, 4, 5, 2}, Shape{3, 3, 2, 3}, Shape{3}}},
      {{Shape{1, 4, 5, 2}, Shape{2, 3, 2, 3}}, {{"padding", {1, 1}}}},
      {{Shape{1, 5, 6, 2}, Shape{3, 2, 2, 2}, Shape{2}}, {{"stride", {2, 3}}, {"padding", {1, 0}}}},
      {{Shape{1, 6, 6, 2}, Shape{3, 3, 2, 2}, Shape{2}}, {{"stride", {2, 2}}, {"behind", {1, 1}}}},
      {{Shape{1, 6, 5, 1}, Shape{2, 2, 1, 3}, Shape{3}}, {{"dilation", {3, 2}}, {"padding", {0, 2}}}},
      {{Shape{2, 3, 3, 3}, Shape{1, 1, 3, 2}, Shape{2}}},
      {{Shape{0, 3, 3, 3}, Shape{2, 2, 3, 2}, Shape{2}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return conv2d(x[0], x[1], x.size() > 2 ? x[2] : Var(), options_2d(a));
     }},
    {"depthwise_conv2d",
     {{{Shape{2, 4, 5, 3}, Shape{3, 3, 3}, Shape{3}}},
      {{Shape{1, 4, 5, 2}, Shape{2, 3, 2}}, {{"padding", {1, 1}}}},
      {{Shape{1, 6, 6, 4}, Shape{3, 5, 4}, Shape{4}}, {{"stride", {2, 2}}, {"padding", {0, 1}}, {"behind", {1, 1}}}},
      {{Shape{1, 6, 5, 1}, Shape{2, 2, 1}, Shape{1}}, {{"dilation", {3, 2}}, {"padding", {0, 2}}}},
      {{Shape{0, 3, 3, 3}, Shape{2, 2, 3}, Shape{3}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return depthwise_conv2d(x[0], x[1], x.size() > 2 ? x[2] : Var(), options_2d(a));
     }},
};

}  // namespace
}  // namespace heed::test
