#include "heed/models/eye.h"

#include <algorithm>
#include <cmath>

#include "heed/autograd/ops/convolution.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/pooling.h"
#include "heed/autograd/ops/shape.h"
#include "heed/base/error.h"

namespace heed {
namespace {

std::vector<std::string> names_between_pluses(const std::string& text) {
  std::vector<std::string> names{""};
  for (const char c : text) {
    if (c == '+')
      names.emplace_back();
    else if (c != ' ')
      names.back() += c;
  }
  return names;
}

// Weights [to, from], rows that add up to 1: position o of `to` is the mean of the part of `from` that it covers, or
// lies between two positions of it where `from` is the coarser.
Tensor resampling(Index from, Index to) {
  Tensor weights(Shape{to, from}, Real{0});
  const double step = static_cast<double>(from) / static_cast<double>(to);
  for (Index o = 0; o < to; ++o) {
    Real* row = weights.data() + o * from;
    if (from > to) {
      const double begin = static_cast<double>(o) * step, end = begin + step;
      for (Index i = static_cast<Index>(begin); i < from && static_cast<double>(i) < end; ++i) {
        const double covered = std::min(end, static_cast<double>(i + 1)) - std::max(begin, static_cast<double>(i));
        row[i] = static_cast<Real>(covered / step);
      }
    } else {
      const double place = std::clamp((static_cast<double>(o) + 0.5) * step - 0.5, 0.0, static_cast<double>(from - 1));
      const Index left = static_cast<Index>(place), right = std::min(left + 1, from - 1);
      row[left] += static_cast<Real>(1 - (place - static_cast<double>(left)));
      row[right] += static_cast<Real>(place - static_cast<double>(left));
    }
  }
  return weights;
}

// [batch, n, n, channels] to [batch, grid·grid, channels].
Var to_grid(const Var& x, Index grid) {
  const Index batch = x.size(0), n = x.size(1), channels = x.size(3);
  if (n == grid) return reshape(x, Shape{batch, grid * grid, channels});
  const Var weights = resampling(n, grid);
  const Var rows = matmul(weights, reshape(x, Shape{batch, n, n * channels}));           // [batch, grid, n·channels]
  const Var columns = matmul(weights, reshape(rows, Shape{batch * grid, n, channels}));  // [batch·grid, grid, channels]
  return reshape(columns, Shape{batch, grid * grid, channels});
}

Var bent(const Var& x, EyeLayer::Bend bend) {
  switch (bend) {
    case EyeLayer::Bend::none: return x;
    case EyeLayer::Bend::relu: return relu(x);
    case EyeLayer::Bend::relu6: return relu6(x);
  }
  return x;
}

// How many zeros stand behind the last row beyond those in front of the first.
Convolution2d options_of(const EyeLayer& layer, Index size) {
  const kernels::Window axis = layer.window(size);
  const Index behind =
      std::max<Index>(0, axis.position(axis.output - 1, axis.kernel - 1) + 1 - axis.input - axis.before);
  return {.stride = {layer.stride, layer.stride}, .padding = {axis.before, axis.before}, .behind = {behind, behind}};
}

}  // namespace

void EyeConfig::visit(Fields& field) {
  field("encoder", encoder, "what looks at pictures: efficientnet-lite0, resnet18, resnet34, resnet50, small or near");
  field("picture", picture, "pictures are brought to so many pixels on a side");
  field("encoder-layers", layers, "layers of the encoder whose outputs are the features, as in head+block10");
  field("grid", grid, "regions on a side of a picture (0: as many as the first of the layers has)");
  field("fine-tune", fine_tune, "the encoder is trained further with the model");
}

EyePlan::EyePlan(const EyeConfig& config)
    : encoder(&encoder_named(config.encoder)),
      picture(config.picture),
      trained(config.fine_tune || encoder->trained_alone) {
  require(picture >= 1 && picture <= 4096, "[{}] pictures have 1 to 4096 pixels on a side, not {}", encoder->name,
          picture);
  require(config.grid >= 0 && config.grid <= picture, "[{}] a picture of {} pixels has no grid of {} regions on a side",
          encoder->name, picture, config.grid);
  for (const std::string& name : names_between_pluses(config.layers.empty() ? encoder->usual : config.layers))
    points.push_back(encoder->point(name));
  layers = static_cast<std::size_t>(*std::max_element(points.begin(), points.end())) + 1;
  grid = config.grid > 0 ? config.grid : sizes()[static_cast<std::size_t>(points[0])];
}

Index EyePlan::width() const {
  Index width = 0;
  for (const int point : points) width += encoder->layers[static_cast<std::size_t>(point)].out;
  return width;
}

std::vector<Index> EyePlan::sizes() const {
  std::vector<Index> sizes;
  for (std::size_t i = 0; i < layers; ++i) {
    const EyeLayer& layer = encoder->layers[i];
    sizes.push_back(layer.window(layer.input < 0 ? picture : sizes[static_cast<std::size_t>(layer.input)]).output);
  }
  return sizes;
}

Var join_points(const EyePlan& plan, const std::vector<Var>& outputs) {
  std::vector<Var> parts;
  parts.reserve(outputs.size());
  for (const Var& output : outputs) parts.push_back(to_grid(output, plan.grid));
  return parts.size() == 1 ? parts[0] : concat(parts, 2);
}

// He et al. 2015: the deviation that keeps the variance through relu, √(2 / fan in).
Eye::Eye(const Scope& scope, const EyeConfig& config) : plan_(std::make_shared<const EyePlan>(config)) {
  for (std::size_t i = 0; i < plan_->layers; ++i) {
    const EyeLayer& layer = plan_->encoder->layers[i];
    Layer& known = layers_.emplace_back();
    if (!layer.has_weight()) continue;
    const Scope here = scope / layer.name;
    const Index fan = layer.weight_shape().size() / layer.out;
    known.weight =
        here.parameter("weight", layer.weight_shape(), init::normal(std::sqrt(2.0 / static_cast<double>(fan))));
    known.bias = here.parameter("bias", Shape{layer.out}, init::zeros());
    if (layer.normalised) known.norm = LayerNorm(here / "norm", layer.out);
  }
}

Eye::Eye(const EyePlan& plan, const EyeWeights& weights) : plan_(std::make_shared<const EyePlan>(plan)) {
  for (const EyeWeights::Layer& each : weights.layers) layers_.push_back({each.weight, each.bias, {}});
}

Var Eye::run(const EyeLayer& layer, const Layer& known, const Var& x, const Var& added) const {
  const Convolution2d options = options_of(layer, x.size(1));
  if (layer.kind == EyeLayer::Kind::max_pool)
    return max_pool2d(x,
                      {.window = {layer.kernel, layer.kernel}, .stride = options.stride, .padding = options.padding});
  Var y = layer.kind == EyeLayer::Kind::depthwise ? depthwise_conv2d(x, known.weight, known.bias, options)
                                                  : conv2d(x, known.weight, known.bias, options);
  if (layer.normalised) y = known.norm(y);
  return bent(added ? y + added : y, layer.bend);
}

std::vector<kernels::ImageLayer> network_layers(const EyePlan& plan, const EyeWeights& weights) {
  const std::vector<Index> sizes = plan.sizes();
  std::vector<kernels::ImageLayer> layers;
  for (std::size_t i = 0; i < plan.layers; ++i) {
    const EyeLayer& layer = plan.encoder->layers[i];
    const kernels::Window axis =
        layer.window(layer.input < 0 ? plan.picture : sizes[static_cast<std::size_t>(layer.input)]);
    layers.push_back({layer.kind, layer.input, layer.added, axis, axis, layer.in, layer.out, layer.bend,
                      weights.layers[i].weight.data(), weights.layers[i].bias.data()});
  }
  return layers;
}

std::vector<Var> Eye::outputs_of_points(const Var& pictures) const {
  std::vector<Var> outputs, wanted;
  for (std::size_t i = 0; i < plan_->layers; ++i) {
    const EyeLayer& layer = plan_->encoder->layers[i];
    outputs.push_back(run(layer, layers_[i],
                          layer.input < 0 ? pictures : outputs[static_cast<std::size_t>(layer.input)],
                          layer.added < 0 ? Var() : outputs[static_cast<std::size_t>(layer.added)]));
  }
  for (const int point : plan_->points) wanted.push_back(outputs[static_cast<std::size_t>(point)]);
  return wanted;
}

#ifndef HEED_DOUBLE

std::vector<Var> seen_by(const kernels::ImageNetwork& network, Index together, const EyePlan& plan,
                         const Tensor& pictures) {
  const Tensor input = pictures.contiguous();
  const Index batch = input.size(0);
  const std::vector<Index> sizes = plan.sizes();
  std::vector<Tensor> outputs;
  for (const int point : plan.points) {
    const auto at = static_cast<std::size_t>(point);
    outputs.emplace_back(Shape{batch, sizes[at], sizes[at], plan.encoder->layers[at].out});
  }
  Tensor scratch(Shape{network.scratch()});
  std::vector<float*> places(outputs.size());
  for (Index first = 0; first < batch; first += together) {
    const auto from = [&](const Tensor& all) { return first * (all.size() / batch); };
    std::transform(outputs.begin(), outputs.end(), places.begin(),
                   [&](Tensor& output) { return output.data() + from(output); });
    network.run(input.data() + from(input), places, scratch.data());
  }
  return {outputs.begin(), outputs.end()};
}

// Without gradients. The network is made of the weights as they are now, since training changes them, and sees each
// picture by itself, so that its numbers do not depend on the pictures beside it.
std::vector<Var> Eye::seen_by_network(const Tensor& pictures) const {
  EyeWeights weights;
  for (const Layer& layer : layers_)
    weights.layers.push_back({layer.weight.value().contiguous(), layer.bias.value().contiguous()});
  return seen_by(kernels::ImageNetwork(1, network_layers(*plan_, weights), plan_->points), 1, *plan_, pictures);
}

#else

std::vector<Var> Eye::seen_by_network(const Tensor& pictures) const { return outputs_of_points(pictures); }

#endif

Var Eye::operator()(const Var& pixels) const {
  const Index side = plan_->picture;
  require(pixels.rank() >= 3 && pixels.size() == pixels.size(0) * side * side * 3,
          "[{}] pictures of {} pixels on a side are [batch, {}, 3], not {}", plan_->encoder->name, side, side * side,
          pixels.shape());
  const Var pictures = reshape(pixels, Shape{pixels.size(0), side, side, 3});
  const bool is_network = std::none_of(plan_->encoder->layers.begin(), plan_->encoder->layers.end(),
                                       [](const EyeLayer& layer) { return layer.normalised; });
  return join_points(*plan_, is_network && !recording() && pictures.size(0) > 0 ? seen_by_network(pictures.value())
                                                                                : outputs_of_points(pictures));
}

std::vector<NamedTensor> eye_parameters(const EyePlan& plan, const EyeWeights& weights) {
  std::vector<NamedTensor> values;
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const EyeLayer& layer = plan.encoder->layers[i];
    if (!layer.has_weight()) continue;
    values.push_back({layer.name + ".weight", weights.layers[i].weight});
    values.push_back({layer.name + ".bias", weights.layers[i].bias});
  }
  return values;
}

}  // namespace heed
