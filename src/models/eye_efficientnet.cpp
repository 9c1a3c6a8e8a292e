#include <fmt/format.h>

#include "heed/models/eye_encoder.h"

namespace heed {
namespace {

// Tan & Le 2019, EfficientNet; Lite0 is Google's variant without squeeze-and-excitation and with relu6 for swish. A
// block is Sandler et al. 2018's inverted residual: expand 1 × 1, depthwise k × k, project 1 × 1 without a bend, plus
// the block's input where the shapes allow it.
struct Stage {
  Index repeats, kernel, stride, expansion, out;
};
constexpr Stage kStages[] = {{1, 3, 1, 1, 16},  {2, 3, 2, 6, 24},  {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80},
                             {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192}, {1, 3, 1, 6, 320}};

class EfficientNet {
 public:
  EfficientNet() {
    encoder_.name = "efficientnet-lite0";
    encoder_.summary = "EfficientNet-Lite0, 4.6 million weights, 75.1 % of ImageNet";
    encoder_.usual = "head";
    encoder_.colours = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
    const double mean = 127.0 / 255, deviation = 128.0 / 255;
    encoder_.folded_colours = {{mean, mean, mean}, {deviation, deviation, deviation}};
    encoder_.epsilon = 1e-3;
    add({.name = "stem",
         .convolution = "conv_stem",
         .norm = "bn1",
         .in = 3,
         .out = 32,
         .kernel = 3,
         .stride = 2,
         .same = true,
         .bend = EyeLayer::Bend::relu6});
    point("stem");
    Index in = 32;
    for (std::size_t s = 0; s < std::size(kStages); ++s)
      for (Index j = 0; j < kStages[s].repeats; ++j) {
        add_block(kStages[s], fmt::format("blocks.{}.{}", s, j), in, j == 0 ? kStages[s].stride : 1);
        in = kStages[s].out;
      }
    add({.name = "head",
         .convolution = "conv_head",
         .norm = "bn2",
         .in = in,
         .out = 1280,
         .bend = EyeLayer::Bend::relu6});
    point("head");
  }
  Encoder take() { return std::move(encoder_); }

 private:
  int last() const { return static_cast<int>(encoder_.layers.size()) - 1; }
  void add(EyeLayer layer) {
    layer.input = last();
    encoder_.layers.push_back(std::move(layer));
  }
  void point(const std::string& name) { encoder_.points.push_back({name, last()}); }

  void add_block(const Stage& stage, const std::string& timm, Index in, Index stride) {
    using Kind = EyeLayer::Kind;
    using Bend = EyeLayer::Bend;
    const std::string name = fmt::format("block{:02}", blocks_++);
    const int before = last();
    const bool expanded = stage.expansion > 1, added = stride == 1 && in == stage.out;
    const Index inner = in * stage.expansion;
    if (expanded)
      add({.name = name + ".expand",
           .convolution = timm + ".conv_pw",
           .norm = timm + ".bn1",
           .in = in,
           .out = inner,
           .bend = Bend::relu6});
    add({.name = name + ".depthwise",
         .convolution = timm + ".conv_dw",
         .norm = timm + (expanded ? ".bn2" : ".bn1"),
         .kind = Kind::depthwise,
         .in = inner,
         .out = inner,
         .kernel = stage.kernel,
         .stride = stride,
         .same = true,
         .bend = Bend::relu6});
    add({.name = name + ".project",
         .convolution = timm + (expanded ? ".conv_pwl" : ".conv_pw"),
         .norm = timm + (expanded ? ".bn3" : ".bn2"),
         .in = inner,
         .out = stage.out});
    if (added) encoder_.layers.back().added = before;
    point(name);
  }

  Encoder encoder_;
  int blocks_ = 0;
};

const RegisterEncoder lite0{EfficientNet().take()};

}  // namespace
}  // namespace heed
