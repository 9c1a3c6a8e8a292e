#include "heed/autograd/ops/pooling.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

Pooling1d pooling_1d(const Attributes& a) {
  Pooling1d options;
  options.window = a.at("window").get<Index>();
  if (a.contains("stride")) options.stride = a.at("stride").get<Index>();
  options.padding = a.value("padding", Index{0});
  return options;
}

HeightWidth pair_from(const Attributes& pair) { return {pair.at(0).get<Index>(), pair.at(1).get<Index>()}; }

Pooling2d pooling_2d(const Attributes& a) {
  Pooling2d options;
  options.window = pair_from(a.at("window"));
  if (a.contains("stride")) options.stride = pair_from(a.at("stride"));
  if (a.contains("padding")) options.padding = pair_from(a.at("padding"));
  return options;
}

template <class F>
OpCase over_time(const char* op, F f) {
  return {op,
          {{{Shape{2, 6, 3}}, {{"window", 2}}},
           {{Shape{2, 7, 3}}, {{"window", 3}, {"stride", 1}, {"padding", 1}}},
           {{Shape{1, 8, 2}}, {{"window", 4}, {"stride", 3}, {"padding", 2}}},
           {{Shape{0, 8, 2}}, {{"window", 2}}}},
          [f](std::span<const Var> x, const Attributes& a) { return f(x[0], pooling_1d(a)); }};
}

template <class F>
OpCase over_images(const char* op, F f) {
  return {op,
          {{{Shape{2, 4, 6, 3}}, {{"window", {2, 2}}}},
           {{Shape{1, 5, 5, 2}}, {{"window", {3, 2}}, {"stride", {2, 1}}, {"padding", {1, 1}}}},
           {{Shape{2, 3, 7, 1}}, {{"window", {1, 3}}, {"stride", {2, 2}}}},
           {{Shape{0, 4, 4, 2}}, {{"window", {2, 2}}}}},
          [f](std::span<const Var> x, const Attributes& a) { return f(x[0], pooling_2d(a)); }};
}

const RegisterOps pooling_ops{
    over_time("max_pool1d", [](const Var& x, const Pooling1d& options) { return max_pool1d(x, options); }),
    over_time("mean_pool1d", [](const Var& x, const Pooling1d& options) { return mean_pool1d(x, options); }),
    over_images("max_pool2d", [](const Var& x, const Pooling2d& options) { return max_pool2d(x, options); }),
    over_images("mean_pool2d", [](const Var& x, const Pooling2d& options) { return mean_pool2d(x, options); }),
};

}  // namespace
}  // namespace heed::test
