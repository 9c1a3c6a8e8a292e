#include <fmt/format.h>

#include "heed/models/eye_encoder.h"

namespace heed {
namespace {

// Our own small encoder, which trains from nothing with the model that uses it: a stem, then stages of a convolution
// that halves the grid and one with a residual, 3 × 3 all, each normalised over its channels (Ba, Kiros, Hinton 2016),
// since batch norm would make pictures depend on their neighbours in a batch.
Encoder small_encoder() {
  Encoder encoder;
  encoder.name = "small";
  encoder.summary = "a small one of our own that trains from nothing, 0.4 million weights";
  encoder.usual = "stage3";
  encoder.colours = encoder.folded_colours = {{0.5, 0.5, 0.5}, {0.25, 0.25, 0.25}};
  encoder.trained_alone = true;
  const auto add = [&](const std::string& name, Index in, Index out, Index stride, bool residual) {
    const int before = static_cast<int>(encoder.layers.size()) - 1;
    encoder.layers.push_back({.name = name,
                              .input = before,
                              .added = residual ? before : -1,
                              .in = in,
                              .out = out,
                              .kernel = 3,
                              .stride = stride,
                              .bend = EyeLayer::Bend::relu,
                              .normalised = true});
  };
  Index in = 32;
  add("stem", 3, in, 2, false);
  encoder.points.push_back({"stem", 0});
  for (const Index width : {48, 96, 128}) {
    const std::string stage = fmt::format("stage{}", encoder.points.size());
    add(stage + ".halve", in, width, 2, false);
    add(stage + ".refine", width, width, 1, true);
    encoder.points.push_back({stage, static_cast<int>(encoder.layers.size()) - 1});
    in = width;
  }
  return encoder;
}

const RegisterEncoder small{small_encoder()};

}  // namespace
}  // namespace heed
