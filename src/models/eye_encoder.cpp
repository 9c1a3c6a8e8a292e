#include "heed/models/eye_encoder.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/base/error.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

std::vector<Encoder>& encoder_registry() {
  static std::vector<Encoder> list;
  return list;
}

// The tensors of a file by name.
class EyeTensors {
 public:
  EyeTensors(const Encoder& encoder, const std::vector<NamedTensor>& tensors) : encoder_(encoder.name) {
    for (const NamedTensor& each : tensors) tensors_.emplace(each.name, each.tensor);
  }
  bool contains(const std::string& name) const { return tensors_.count(name) > 0; }
  Tensor at(const std::string& name, const Shape& shape) const {
    const auto found = tensors_.find(name);
    require(found != tensors_.end(), "[{}] the file of weights has no tensor {}: it is of another encoder", encoder_,
            name);
    require(found->second.shape() == shape, "[{}] the tensor {} of the file of weights is of shape {}, not {}",
            encoder_, name, found->second.shape(), shape);
    return found->second;
  }

 private:
  std::string encoder_;
  std::map<std::string, Tensor> tensors_;
};

// Files have [out, in, rows, columns] and, depthwise, [out, 1, rows, columns].
Shape shape_in_files(const EyeLayer& layer) {
  const bool depthwise = layer.kind == EyeLayer::Kind::depthwise;
  return {layer.out, depthwise ? 1 : layer.in, layer.kernel, layer.kernel};
}
Tensor from_file(const EyeLayer& layer, const Tensor& weight) {
  return weight.transpose(0, 2).transpose(1, 3).transpose(2, 3).contiguous().reshape(layer.weight_shape());
}
Tensor to_file(const EyeLayer& layer, const Tensor& weight) {
  const bool depthwise = layer.kind == EyeLayer::Kind::depthwise;
  return weight.reshape(Shape{layer.kernel, layer.kernel, depthwise ? 1 : layer.in, layer.out})
      .transpose(2, 3)
      .transpose(1, 3)
      .transpose(0, 2)
      .contiguous();
}

// Ioffe & Szegedy 2015, with its running mean μ and variance v:
//   γ (w·x - μ) / √(v + ε) + β = (s w)·x + (β - s μ),  s = γ / √(v + ε)
EyeWeights::Layer folded(const Encoder& encoder, const EyeLayer& layer, const EyeTensors& file) {
  const Shape each{layer.out};
  EyeWeights::Layer result{from_file(layer, file.at(layer.convolution + ".weight", shape_in_files(layer))).copy(),
                           Tensor(each)};
  const Tensor gain = file.at(layer.norm + ".weight", each).contiguous(),
               shift = file.at(layer.norm + ".bias", each).contiguous(),
               mean = file.at(layer.norm + ".running_mean", each).contiguous(),
               variance = file.at(layer.norm + ".running_var", each).contiguous();
  std::vector<double> factors;
  for (Index o = 0; o < layer.out; ++o) {
    factors.push_back(gain.data()[o] / std::sqrt(static_cast<double>(variance.data()[o]) + encoder.epsilon));
    result.bias.data()[o] = static_cast<Real>(shift.data()[o] - factors.back() * static_cast<double>(mean.data()[o]));
  }
  for (Index i = 0; i < result.weight.size(); ++i)  // outputs come last
    result.weight.data()[i] =
        static_cast<Real>(result.weight.data()[i] * factors[static_cast<std::size_t>(i % layer.out)]);
  return result;
}

Tensor three(const std::array<double, 3>& values) {
  return Tensor(Shape{3}, {static_cast<Real>(values[0]), static_cast<Real>(values[1]), static_cast<Real>(values[2])});
}
std::array<double, 3> three(const Tensor& values) { return {values.at({0}), values.at({1}), values.at({2})}; }

}  // namespace

kernels::Window EyeLayer::window(Index input_size) const {
  kernels::Window axis{.input = input_size, .kernel = kernel, .stride = stride};
  if (same) {
    axis.output = (input_size + stride - 1) / stride;
    axis.before = std::max<Index>((axis.output - 1) * stride + kernel - input_size, 0) / 2;
  } else {
    axis.before = kernel / 2;
    axis.output = (input_size + 2 * axis.before - kernel) / stride + 1;
  }
  return axis;
}

int Encoder::point(const std::string& wanted) const {
  std::string known;
  for (const Point& each : points) {
    if (each.name == wanted) return each.layer;
    known += (known.empty() ? "" : ", ") + each.name;
  }
  fail("[{}] there is no layer {}; it has {}", name, wanted, known);
}

const std::vector<Encoder>& encoders() { return encoder_registry(); }

const Encoder& encoder_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Encoder& each : encoders()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  fail("[encoder] there is none named {}{}", name, did_you_mean(name, names));
}

RegisterEncoder::RegisterEncoder(Encoder encoder) { encoder_registry().push_back(std::move(encoder)); }

EyeWeights read_eye_weights(const Encoder& encoder, std::size_t layers, const std::vector<NamedTensor>& tensors) {
  const EyeTensors file(encoder, tensors);
  if (file.contains(encoder.layers[0].name + ".bias")) {
    return recall_eye_weights(encoder, layers, [&](const std::string& name, const Shape& shape) {
      const bool unsaid = (name == "mean" || name == "deviation") && !file.contains(name);
      if (!unsaid) return file.at(name, shape);
      return three(name == "mean" ? encoder.folded_colours.mean : encoder.folded_colours.deviation);
    });
  }
  EyeWeights weights{{}, encoder.colours};
  for (std::size_t i = 0; i < layers; ++i) {
    const EyeLayer& layer = encoder.layers[i];
    weights.layers.push_back(layer.has_weight() ? folded(encoder, layer, file) : EyeWeights::Layer{});
  }
  return weights;
}

std::vector<NamedTensor> folded_tensors(const Encoder& encoder, const EyeWeights& weights) {
  std::vector<NamedTensor> tensors{{"mean", three(weights.colours.mean)},
                                   {"deviation", three(weights.colours.deviation)}};
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const EyeLayer& layer = encoder.layers[i];
    if (!layer.has_weight()) continue;
    tensors.push_back({layer.name + ".weight", to_file(layer, weights.layers[i].weight)});
    tensors.push_back({layer.name + ".bias", weights.layers[i].bias});
  }
  return tensors;
}

EyeWeights recall_eye_weights(const Encoder& encoder, std::size_t layers, const GivenValues& given) {
  EyeWeights weights;
  weights.colours = {three(given("mean", Shape{3}).value()), three(given("deviation", Shape{3}).value())};
  for (std::size_t i = 0; i < layers; ++i) {
    const EyeLayer& layer = encoder.layers[i];
    EyeWeights::Layer& known = weights.layers.emplace_back();
    if (!layer.has_weight()) continue;
    known.weight = from_file(layer, given(layer.name + ".weight", shape_in_files(layer)).value());
    known.bias = given(layer.name + ".bias", Shape{layer.out}).value().contiguous();
  }
  return weights;
}

}  // namespace heed
