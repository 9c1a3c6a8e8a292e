#include <fmt/format.h>

#include "heed/models/eye_encoder.h"

namespace heed {
namespace {

// He et al. 2016, Deep residual learning. A block is two 3 × 3 convolutions or, in a bottleneck, 1 × 1, 3 × 3 and 1 × 1
// (He's strides stand at the 3 × 3, as in all weights that are about); its input is added, through a 1 × 1 convolution
// where the shapes differ, and relu follows.
class ResNet {
 public:
  ResNet(const std::string& name, const char* summary, std::array<Index, 4> blocks, bool bottleneck) {
    encoder_.name = name;
    encoder_.summary = summary;
    encoder_.usual = "layer4";
    encoder_.colours = encoder_.folded_colours = {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
    add("conv1", "bn1", {.input = -1, .in = 3, .out = 64, .kernel = 7, .stride = 2, .bend = EyeLayer::Bend::relu});
    point("stem");
    add("maxpool", "",
        {.kind = EyeLayer::Kind::max_pool, .input = last(), .in = 64, .out = 64, .kernel = 3, .stride = 2});
    Index in = 64;
    for (std::size_t s = 0; s < blocks.size(); ++s) {
      const Index width = Index{64} << s, out = bottleneck ? 4 * width : width;
      for (Index b = 0; b < blocks[s]; ++b) {
        add_block(fmt::format("layer{}.{}.", s + 1, b), in, width, out, s > 0 && b == 0 ? 2 : 1, bottleneck);
        in = out;
      }
      point(fmt::format("layer{}", s + 1));
    }
  }
  Encoder take() { return std::move(encoder_); }

 private:
  int last() const { return static_cast<int>(encoder_.layers.size()) - 1; }
  void add(const std::string& convolution, const std::string& norm, EyeLayer layer) {
    layer.name = layer.convolution = convolution;
    layer.norm = norm;
    encoder_.layers.push_back(std::move(layer));
  }
  void point(const std::string& name) { encoder_.points.push_back({name, last()}); }

  void add_block(const std::string& name, Index in, Index width, Index out, Index stride, bool bottleneck) {
    using Bend = EyeLayer::Bend;
    const int before = last();
    int shortcut = before;
    if (stride > 1 || in != out) {
      add(name + "downsample.0", name + "downsample.1", {.input = before, .in = in, .out = out, .stride = stride});
      shortcut = last();
    }
    if (bottleneck) {
      add(name + "conv1", name + "bn1", {.input = before, .in = in, .out = width, .bend = Bend::relu});
      add(name + "conv2", name + "bn2",
          {.input = last(), .in = width, .out = width, .kernel = 3, .stride = stride, .bend = Bend::relu});
      add(name + "conv3", name + "bn3",
          {.input = last(), .added = shortcut, .in = width, .out = out, .bend = Bend::relu});
    } else {
      add(name + "conv1", name + "bn1",
          {.input = before, .in = in, .out = width, .kernel = 3, .stride = stride, .bend = Bend::relu});
      add(name + "conv2", name + "bn2",
          {.input = last(), .added = shortcut, .in = width, .out = out, .kernel = 3, .bend = Bend::relu});
    }
  }

  Encoder encoder_;
};

const RegisterEncoder resnet18{ResNet("resnet18", "ResNet-18, 11 million weights", {2, 2, 2, 2}, false).take()};
const RegisterEncoder resnet34{ResNet("resnet34", "ResNet-34, 21 million weights", {3, 4, 6, 3}, false).take()};
const RegisterEncoder resnet50{ResNet("resnet50", "ResNet-50, 24 million weights", {3, 4, 6, 3}, true).take()};

}  // namespace
}  // namespace heed
