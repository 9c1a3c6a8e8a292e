#pragma once

#include <array>
#include <string>
#include <vector>

#include "heed/kernels/image_network.h"
#include "heed/nn/parameters.h"
#include "heed/tensor/named_tensor.h"

// Published image encoders as lists of layers, and their weights from files.

namespace heed {

// One layer: y = bend(convolution(x) + bias + added), or the largest of each window. Batch norm, which an encoder has
// in training alone, is part of the weight and the bias.
struct EyeLayer {
  using Kind = kernels::ImageLayer::Kind;
  using Bend = kernels::Bend;

  std::string name = {};         // of its tensors in a file of folded weights: "block03.expand"
  std::string convolution = {};  // timm's name of the convolution: "blocks.2.0.conv_pw"
  std::string norm = {};         // timm's name of the batch norm behind it: "blocks.2.0.bn1"
  Kind kind = Kind::convolution;
  int input = -1;  // the layer that it reads, -1: the picture
  int added = -1;  // the layer that is added before the bend, -1: none
  Index in = 0, out = 0, kernel = 1, stride = 1;
  bool same = false;  // pads as TensorFlow does: ⌈n / stride⌉ outputs, the odd zero behind; else kernel/2 on both sides
  Bend bend = Bend::none;
  bool normalised = false;  // by layer norm over the channels, before the sum (of encoders that train from nothing)

  bool has_weight() const { return kind != Kind::max_pool; }
  Shape weight_shape() const {  // [kernel, kernel, in, out], depthwise [kernel, kernel, out]
    return kind == Kind::depthwise ? Shape{kernel, kernel, out} : Shape{kernel, kernel, in, out};
  }
  // How it slides over an axis of so many positions.
  kernels::Window window(Index input_size) const;
};

// What is subtracted from red, green and blue, each in 0..1, and what they are then divided by.
struct Colours {
  std::array<double, 3> mean{0, 0, 0}, deviation{1, 1, 1};
};

struct Encoder {
  struct Point {
    std::string name;  // "head"
    int layer;
  };
  std::string name;
  std::string summary;  // one line
  std::vector<EyeLayer> layers;
  std::vector<Point> points;   // where its features can be taken
  std::string usual;           // the point that is taken unless another is named
  Colours colours;             // of timm's weights
  Colours folded_colours;      // of files of folded weights that do not say
  double epsilon = 1e-5;       // of batch norm
  bool trained_alone = false;  // it has no published weights: it is trained with the model that uses it

  // An Error that lists the points if there is none of that name.
  int point(const std::string& name) const;
};

const std::vector<Encoder>& encoders();
// An Error with the nearest known name if there is none.
const Encoder& encoder_named(const std::string& name);
struct RegisterEncoder {
  explicit RegisterEncoder(Encoder encoder);
};

// What a file knows of the first layers of an encoder.
struct EyeWeights {
  struct Layer {
    Tensor weight, bias;  // of EyeLayer::weight_shape() and [out]; empty of a layer that has none
  };
  std::vector<Layer> layers;
  Colours colours;
};

// From the tensors of a file, by timm's names (weights [out, in, kernel, kernel] and batch norms, which are folded in
// here) or folded already (EyeLayer::name with ".weight" and ".bias", and perhaps "mean" and "deviation"). What is
// missing or of another shape is an Error that names the tensor.
EyeWeights read_eye_weights(const Encoder& encoder, std::size_t layers, const std::vector<NamedTensor>& tensors);
// As a file of folded weights, which read_eye_weights and recall_eye_weights read.
std::vector<NamedTensor> folded_tensors(const Encoder& encoder, const EyeWeights& weights);
EyeWeights recall_eye_weights(const Encoder& encoder, std::size_t layers, const GivenValues& given);

}  // namespace heed
