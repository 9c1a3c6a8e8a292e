#include <fmt/format.h>

#include "heed/models/eye_encoder.h"

namespace heed {
namespace {

// Our own small encoders, which train from nothing with the model that uses them: a stem, then stages of a 3 × 3
// convolution that halves the grid and one with a residual, each normalised over its channels (Ba, Kiros, Hinton 2016),
// since batch norm would make pictures depend on their neighbours in a batch. `refine` is how wide the second ones are:
//   small  3 × 3: a region of stage2, 8 pixels wide, sees 39
//   near   1 × 1: it sees 15, little beyond itself, so that a model has to look at a thing to know it
// A 3 × 3 convolution that halves an even grid cannot see as much before a region as behind it. With the zeros always
// in front, what a region of stage2 sees is centred half a region before it, on its corner, and weights are drawn
// beside the things that were looked at. So the odd zero stands in front and behind in turn: stage2 is off by half a
// pixel.
Encoder small_encoder(const char* title, const char* summary, Index refine) {
  Encoder encoder;
  encoder.name = title;
  encoder.summary = summary;
  encoder.usual = "stage3";
  encoder.colours = encoder.folded_colours = {{0.5, 0.5, 0.5}, {0.25, 0.25, 0.25}};
  encoder.trained_alone = true;
  const auto add = [&](const std::string& name, Index in, Index out, Index kernel, Index stride, bool behind) {
    const int before = static_cast<int>(encoder.layers.size()) - 1;
    encoder.layers.push_back({.name = name,
                              .input = before,
                              .added = stride == 1 ? before : -1,
                              .in = in,
                              .out = out,
                              .kernel = kernel,
                              .stride = stride,
                              .same = behind,
                              .bend = EyeLayer::Bend::relu,
                              .normalised = true});
  };
  Index in = 32;
  add("stem", 3, in, 3, 2, true);
  encoder.points.push_back({"stem", 0});
  for (const auto& [width, behind] : {std::pair<Index, bool>{48, true}, {96, false}, {128, true}}) {
    const std::string stage = fmt::format("stage{}", encoder.points.size());
    add(stage + ".halve", in, width, 3, 2, behind);
    add(stage + ".refine", width, width, refine, 1, false);
    encoder.points.push_back({stage, static_cast<int>(encoder.layers.size()) - 1});
    in = width;
  }
  return encoder;
}

const RegisterEncoder small{
    small_encoder("small", "a small one of our own that trains from nothing, 0.4 million weights", 3)};
const RegisterEncoder near{
    small_encoder("near", "the same with regions that see little beyond themselves, 0.2 million weights", 1)};

}  // namespace
}  // namespace heed
