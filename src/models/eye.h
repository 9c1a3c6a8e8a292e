#pragma once

#include "heed/base/fields.h"
#include "heed/models/eye_encoder.h"
#include "heed/nn/norm.h"

// How any model looks at a picture: an encoder (models/eye_encoder.h) turns it into a grid of regions.
//
// A frozen encoder works before the model, as its sense (models/image_sense.h): the model reads features. An encoder
// that is trained, either from nothing ("small") or further (fine-tune), is part of the model (Eye): the sense gives
// the model pixels, and the model has the encoder's parameters.

namespace heed {

// Part of a model's config; its `visit` calls this one.
struct EyeConfig {
  std::string encoder = "efficientnet-lite0";
  Index picture = 224;      // pixels on a side
  std::string layers = {};  // of the encoder, joined by +; empty: the usual one
  Index grid = 0;           // places on a side; 0: as many as the first of the layers has
  bool fine_tune = false;

  void visit(Fields& field);
};

// What a configuration means.
struct EyePlan {
  explicit EyePlan(const EyeConfig& config);  // an Error if it means nothing

  const Encoder* encoder;
  Index picture;            // pixels on a side
  std::vector<int> points;  // the layers whose outputs are the features
  std::size_t layers;       // how many of the encoder's are needed for that
  Index grid;               // places on a side
  bool trained;             // the encoder is part of the model

  Index regions() const { return grid * grid; }
  Index width() const;  // of a region's features
  // Positions on a side of the output of each needed layer.
  std::vector<Index> sizes() const;
};

// The features of a grid, [batch, regions, width], of the outputs of the plan's points, [batch, rows, columns, out]
// each: brought to the grid by means where they are finer, linearly where they are coarser, and joined.
Var join_points(const EyePlan& plan, const std::vector<Var>& outputs);

// The needed layers as a network of kernels has them; it reads the weights while it is made.
std::vector<kernels::ImageLayer> network_layers(const EyePlan& plan, const EyeWeights& weights);

#ifndef HEED_DOUBLE
// What the plan's points give for pictures, [batch, rows, columns, out] each, by a network of these layers that was
// made for `together` pictures at a time, a divisor of the batch.
std::vector<Var> seen_by(const kernels::ImageNetwork& network, Index together, const EyePlan& plan,
                         const Tensor& pictures);
#endif

// An encoder as part of a model, with gradients.
class Eye {
 public:
  Eye() = default;
  // Its parameters are "<layer>.weight", "<layer>.bias" and, where a layer is normalised, "<layer>.norm.gain" and
  // ".bias".
  Eye(const Scope& scope, const EyeConfig& config);
  // The same with ready-made weights, of which no gradient is wanted.
  Eye(const EyePlan& plan, const EyeWeights& weights);

  // Pixels as an ImageSense gives them, [batch, picture·picture, 3] or [batch, picture, picture, 3], to
  // [batch, regions, width].
  Var operator()(const Var& pixels) const;

 private:
  std::vector<Var> outputs_of_points(const Var& pictures) const;
  std::vector<Var> seen_by_network(const Tensor& pictures) const;
  struct Layer {
    Var weight, bias;
    LayerNorm norm;
  };
  Var run(const EyeLayer& layer, const Layer& known, const Var& x, const Var& added) const;

  std::shared_ptr<const EyePlan> plan_;
  std::vector<Layer> layers_;
};

// The values with which the parameters of an Eye begin when an encoder is fine-tuned, by their names below its scope.
std::vector<NamedTensor> eye_parameters(const EyePlan& plan, const EyeWeights& weights);

}  // namespace heed
