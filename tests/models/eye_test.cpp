#include "heed/models/eye.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/threads.h"
#include "heed/data/images/image.h"
#include "heed/models/image_sense.h"
#include "support/messages.h"

namespace heed {
namespace {

using test::message_of;

// Tensors whose numbers are a hash of their name and position, so that PyTorch and we make the same ones.
double hashed(const std::string& name, Index i) {
  std::uint32_t start = 2166136261U;
  for (const char c : name) start = (start ^ static_cast<unsigned char>(c)) * 16777619U;
  std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761U + start;
  h ^= h >> 15;
  h *= 2246822519U;
  h ^= h >> 13;
  h *= 3266489917U;
  h ^= h >> 16;
  return h / 4294967296.0;
}
Tensor hashed_tensor(const std::string& name, const Shape& shape) {
  Tensor tensor(shape);
  const double fan = shape.rank() > 1 ? static_cast<double>(shape.size() / shape[0]) : 1;
  const bool positive = name.ends_with(".weight") || name.ends_with("running_var");
  for (Index i = 0; i < tensor.size(); ++i) {
    const double u = hashed(name, i);
    tensor.data()[i] = static_cast<Real>(shape.rank() > 1 ? (2 * u - 1) * std::sqrt(6 / fan)
                                         : positive       ? 0.75 + 0.5 * u
                                                          : 0.2 * (u - 0.5));
  }
  return tensor;
}

// All tensors of an encoder by timm's names.
std::vector<NamedTensor> timm_tensors(const Encoder& encoder) {
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, const Shape& shape) {
    tensors.push_back({name, hashed_tensor(name, shape)});
  };
  for (const EyeLayer& layer : encoder.layers) {
    if (!layer.has_weight()) continue;
    const bool depthwise = layer.kind == EyeLayer::Kind::depthwise;
    add(layer.convolution + ".weight", {layer.out, depthwise ? 1 : layer.in, layer.kernel, layer.kernel});
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) add(layer.norm + part, {layer.out});
  }
  return tensors;
}

// The outputs [height, width, out] of some layers for the hashed picture, 64 × 75: the encoder's layers one by one on
// kernels::ImageNetwork, which takes pictures that are no squares.
std::vector<Tensor> golden_outputs(const std::string& name, const std::vector<std::string>& points) {
  constexpr Index kHeight = 64, kWidth = 75;
  const Encoder& encoder = encoder_named(name);
  const EyeWeights weights = read_eye_weights(encoder, encoder.layers.size(), timm_tensors(encoder));
  Tensor picture(Shape{1, kHeight, kWidth, 3});
  for (Index c = 0; c < 3; ++c)
    for (Index p = 0; p < kHeight * kWidth; ++p)
      picture.data()[p * 3 + c] = static_cast<Real>(2 * hashed("input", c * kHeight * kWidth + p) - 1);

  std::vector<kernels::ImageLayer> layers;
  for (std::size_t i = 0; i < encoder.layers.size(); ++i) {
    const EyeLayer& layer = encoder.layers[i];
    const auto from = static_cast<std::size_t>(std::max(0, layer.input));
    layers.push_back({layer.kind, layer.input, layer.added,
                      layer.window(layer.input < 0 ? kHeight : layers[from].height.output),
                      layer.window(layer.input < 0 ? kWidth : layers[from].width.output), layer.in, layer.out,
                      layer.bend, weights.layers[i].weight.data(), weights.layers[i].bias.data()});
  }
  std::vector<int> wanted;
  std::vector<Tensor> outputs;
  std::vector<float*> places;
  for (const std::string& point : points) {
    const kernels::ImageLayer& layer = layers[static_cast<std::size_t>(wanted.emplace_back(encoder.point(point)))];
    outputs.emplace_back(Shape{layer.height.output, layer.width.output, layer.out});
    places.push_back(outputs.back().data());
  }
  const kernels::ImageNetwork network(1, layers, wanted);
  network.run(picture.data(), places, Tensor(Shape{network.scratch()}).data());
  return outputs;
}

double sum(const Tensor& x) {
  double sum = 0;
  for (const Real value : x.values()) sum += static_cast<double>(value);
  return sum;
}
double absolute_sum(const Tensor& x) {
  double sum = 0;
  for (const Real value : x.values()) sum += std::abs(static_cast<double>(value));
  return sum;
}
// Sums of timm's outputs in double; `precision` is the last digit that is given.
void expect_sum(const Tensor& x, const Shape& shape, double expected, double precision) {
  EXPECT_EQ(x.shape(), shape);
  EXPECT_NEAR(sum(x), expected, 1e-6 * absolute_sum(x) + precision);
}

// The 1,000 classes of ImageNet, of the mean over the grid.
std::vector<double> logits_of_head(const Tensor& features, const std::string& layer) {
  const Index width = features.size(2), places = features.size() / width;
  const Tensor weight = hashed_tensor(layer + ".weight", {1000, width}), bias = hashed_tensor(layer + ".bias", {1000});
  std::vector<double> mean(static_cast<std::size_t>(width), 0), scores;
  for (Index i = 0; i < features.size(); ++i)
    mean[static_cast<std::size_t>(i % width)] += static_cast<double>(features.data()[i]) / static_cast<double>(places);
  for (Index o = 0; o < 1000; ++o) {
    double score = bias.data()[o];
    for (Index i = 0; i < width; ++i) score += weight.data()[o * width + i] * mean[static_cast<std::size_t>(i)];
    scores.push_back(score);
  }
  return scores;
}
Index best(const std::vector<double>& scores) {
  return std::distance(scores.begin(), std::max_element(scores.begin(), scores.end()));
}

TEST(Eye, HashesAsTheReferenceDoes) {
  EXPECT_NEAR(2 * hashed("input", 0) - 1, -.852142751, 1e-7);
  EXPECT_NEAR(2 * hashed("input", 2) - 1, -.170706362, 1e-7);
  EXPECT_NEAR(hashed_tensor("conv1.weight", {64, 3, 7, 7}).data()[1], -.0652380064, 1e-8);
  EXPECT_NEAR(hashed_tensor("bn1.running_var", {64}).data()[0], 1.13535011, 1e-7);
}

TEST(Eye, Resnet18IsTimms) {
  const auto outputs = golden_outputs("resnet18", {"stem", "layer1", "layer2", "layer3", "layer4"});
  expect_sum(outputs[0], {32, 38, 64}, 24734.636, 1e-3);
  expect_sum(outputs[1], {16, 19, 64}, 43148.908, 1e-3);
  expect_sum(outputs[2], {8, 10, 128}, 36684.000, 1e-3);
  expect_sum(outputs[3], {4, 5, 256}, 38594.034, 1e-3);
  expect_sum(outputs[4], {2, 3, 512}, 32435.989, 1e-3);
  EXPECT_NEAR(outputs[4].at({0, 0, 0}), 11.02094, 1e-4);
  EXPECT_NEAR(outputs[4].at({1, 2, 511}), 24.24777, 1e-4);
  const std::vector<double> scores = logits_of_head(outputs[4], "fc");
  EXPECT_NEAR(scores.front(), -13.92418, 1e-3);
  EXPECT_NEAR(scores.back(), 23.10560, 1e-3);
  EXPECT_EQ(best(scores), 567);
}

TEST(Eye, Resnet50IsTimms) {
  const auto outputs = golden_outputs("resnet50", {"layer1", "layer4"});
  expect_sum(outputs[0], {16, 19, 256}, 153271.98, 1e-2);
  expect_sum(outputs[1], {2, 3, 2048}, 4163078.6, 1e-1);
  const std::vector<double> scores = logits_of_head(outputs[1], "fc");
  EXPECT_NEAR(scores[0], 701.115, 1e-2);
  EXPECT_EQ(best(scores), 468);
}

TEST(Eye, EfficientNetLite0IsTimms) {
  const auto outputs =
      golden_outputs("efficientnet-lite0", {"stem", "block00", "block02", "block04", "block10", "block15", "head"});
  expect_sum(outputs[0], {32, 38, 32}, 12339.095, 1e-3);
  expect_sum(outputs[1], {32, 38, 16}, 2869.3075, 1e-4);
  expect_sum(outputs[2], {16, 19, 24}, 2223.2456, 1e-4);
  expect_sum(outputs[3], {8, 10, 40}, 2886.0579, 1e-4);
  expect_sum(outputs[4], {4, 5, 112}, 234.4754, 1e-4);
  expect_sum(outputs[5], {2, 3, 320}, -58.388205, 1e-6);
  EXPECT_NEAR(absolute_sum(outputs[5]), 4019.5328, 1e-2);
  expect_sum(outputs[6], {2, 3, 1280}, 10300.314, 1e-3);
  EXPECT_NEAR(outputs[6].at({0, 0, 0}), 4.489424, 1e-4);
  EXPECT_EQ(outputs[6].at({1, 2, 1279}), 0);
  const std::vector<double> scores = logits_of_head(outputs[6], "classifier");
  EXPECT_NEAR(scores.front(), 1.393269, 1e-4);
  EXPECT_NEAR(scores.back(), -4.532621, 1e-4);
  EXPECT_EQ(best(scores), 766);
}

Tensor picture(Index height, Index width) {
  Tensor pixels(Shape{height, width, 3});
  for (Index i = 0; i < pixels.size(); ++i) pixels.data()[i] = static_cast<Real>(hashed("picture", i));
  return pixels;
}

ImageSense taught(const EyeConfig& config) {
  ImageSense sense(config);
  sense.learn({.weights = timm_tensors(encoder_named(config.encoder))});
  return sense;
}

void expect_near_each(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  for (Index i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.data()[i], b.data()[i], tolerance * (1 + std::abs(b.data()[i]))) << i;
}

// The same numbers from the frozen network and from the ops with gradients, of several layers on one grid.
TEST(Eye, SeesTheSameFrozenAndInTheModel) {
  for (const char* name : {"efficientnet-lite0", "resnet18"}) {
    EyeConfig config{.encoder = name, .picture = 70};
    if (config.encoder == "efficientnet-lite0") config.layers = "block10+head+block02", config.grid = 4;
    const std::vector<NamedTensor> tensors = timm_tensors(encoder_named(name));
    ImageSense sense(config);
    sense.learn({.weights = tensors});
    const Featured frozen = sense({.text = "x", .numbers = picture(70, 70)});

    EyeConfig trained = config;
    trained.fine_tune = true;
    ImageSense pixels(trained);
    pixels.learn({.weights = tensors});
    Parameters parameters;
    const Eye eye(parameters, trained);
    for (const NamedTensor& each : pixels.first_parameters()) {
      Tensor value = parameters.at(each.name).value();
      ASSERT_EQ(value.shape(), each.tensor.shape()) << each.name;
      std::copy_n(each.tensor.data(), each.tensor.size(), value.data());
    }
    const Featured given = pixels({.text = "x", .numbers = picture(70, 70)});
    EXPECT_EQ(given.features.shape(), (Shape{70 * 70, 3}));
    EXPECT_EQ(given.rows, frozen.rows);
    const Tensor seen = eye(given.features.reshape(Shape{1, 70 * 70, 3})).value();
    expect_near_each(seen.reshape(Shape{seen.size(1), seen.size(2)}), frozen.features, 2e-4);

    // Where nothing is recorded it is the frozen network, for every picture by itself.
    const NoGradient off;
    Tensor two(Shape{2, 70 * 70, 3}, Real(0.3));
    std::copy_n(given.features.data(), given.features.size(), two.data() + given.features.size());
    const Tensor beside = eye(two).value().slice(0, 1, 2).contiguous();
    EXPECT_TRUE(std::equal(beside.values().begin(), beside.values().end(), frozen.features.values().begin()));
  }
}

TEST(Eye, LayersPictureAndGridAreChosen) {
  const auto shape = [](const EyeConfig& config) {
    const EyePlan plan(config);
    return std::pair<Index, Index>{plan.grid, plan.width()};
  };
  EXPECT_EQ(shape({}), (std::pair<Index, Index>{7, 1280}));
  EXPECT_EQ(shape({.picture = 448}), (std::pair<Index, Index>{14, 1280}));
  EXPECT_EQ(shape({.layers = "block10"}), (std::pair<Index, Index>{14, 112}));
  EXPECT_EQ(shape({.layers = "block10 + head"}), (std::pair<Index, Index>{14, 1392}));
  EXPECT_EQ(shape({.layers = "head+block10", .grid = 10}), (std::pair<Index, Index>{10, 1392}));
  EXPECT_EQ(shape({.encoder = "resnet50"}), (std::pair<Index, Index>{7, 2048}));
  EXPECT_EQ(shape({.encoder = "small", .picture = 64}), (std::pair<Index, Index>{4, 128}));
}

// Regions of stage2 are 8 pixels wide. A near one sees 15: four before itself, three behind.
TEST(Eye, NearRegionsSeeLittleBeyondThemselves) {
  constexpr Index kSide = 64, kGrid = 8, kRegion = 4;
  for (const bool near : {true, false}) {
    Parameters parameters;
    const Eye eye(parameters, {.encoder = near ? "near" : "small", .picture = kSide, .layers = "stage2"});
    const auto region = [&](Index changed) {
      Tensor pixels(Shape{1, kSide * kSide, 3}, Real(0.5));
      if (changed >= 0) pixels.data()[(kRegion * kSide / kGrid * kSide + changed) * 3] = 1;
      const Tensor seen = eye(pixels).value().contiguous();
      const Index width = seen.size(2), at = (kRegion * kGrid + kRegion) * width;
      return std::vector<Real>(seen.data() + at, seen.data() + at + width);
    };
    const std::vector<Real> plain = region(-1);
    EXPECT_NE(region(kRegion * kGrid + 2), plain);  // inside
    for (const Index edge : {-4, 10}) EXPECT_NE(region(kRegion * kGrid + edge), plain) << edge;
    for (const Index beyond : {-5, 11}) EXPECT_EQ(region(kRegion * kGrid + beyond) == plain, near) << beyond;
  }
}

TEST(Eye, APlainPictureStaysPlainOnEveryGrid) {
  const EyePlan coarse({.encoder = "resnet18", .picture = 64, .grid = 5});
  const Tensor plain(Shape{2, 2, 2, 3}, Real(0.7));
  for (const Index n : {1, 2, 7, 11}) {
    const Tensor joined = join_points(coarse, {Tensor(Shape{2, n, n, 3}, Real(0.7))}).value();
    ASSERT_EQ(joined.shape(), (Shape{2, 25, 3}));
    for (const Real value : joined.values()) EXPECT_NEAR(value, 0.7, 1e-6);
  }
}

TEST(Eye, KnowsAfterwardsWhatItLearned) {
  const EyeConfig config{.picture = 64, .layers = "block02"};
  const ImageSense sense = taught(config);
  const std::vector<NamedTensor> known = sense.knowledge();
  const auto given = [&](const std::string& name, const Shape& shape) {
    for (const NamedTensor& each : known)
      if (each.name == name && each.tensor.shape() == shape) return each.tensor;
    fail("no {}", name);
  };
  ImageSense recalled(config), learned(config);
  recalled.recall(given);
  learned.learn({.weights = known});  // a file of folded weights
  const Value value{.text = "x", .numbers = picture(30, 50)};
  const Tensor expected = sense(value).features;
  expect_near_each(recalled(value).features, expected, 0);
  expect_near_each(learned(value).features, expected, 0);
  EXPECT_EQ(known.size(), 3 + 2 * 9);  // of the stem, three blocks, and nothing behind them
}

TEST(Eye, FoldedWeightsThatDoNotSayTheirColoursHaveThoseOfTheSharedConversion) {
  const Encoder& encoder = encoder_named("efficientnet-lite0");
  std::vector<NamedTensor> tensors = folded_tensors(encoder, read_eye_weights(encoder, 1, timm_tensors(encoder)));
  std::erase_if(tensors, [](const NamedTensor& each) { return each.name == "mean" || each.name == "deviation"; });
  const Colours colours = read_eye_weights(encoder, 1, tensors).colours;
  EXPECT_NEAR(colours.mean[0], 127.0 / 255, 1e-7);
  EXPECT_NEAR(colours.deviation[2], 128.0 / 255, 1e-7);
}

TEST(Eye, SeesEveryPictureOfABatchAlone) {
  const ImageSense sense = taught({.encoder = "resnet18", .picture = 48, .layers = "layer2"});
  const Tensor one = picture(48, 48), other = resize(picture(20, 31), 48, 48);
  Tensor both(Shape{2, 48, 48, 3});
  std::copy_n(one.data(), one.size(), both.data());
  std::copy_n(other.data(), other.size(), both.data() + one.size());
  const Tensor seen = sense.features(both);
  const auto alone = [&](const Tensor& pixels) { return sense.features(pixels.reshape(Shape{1, 48, 48, 3})); };
  expect_near_each(seen.slice(0, 0, 1).contiguous(), alone(one), 1e-5);
  expect_near_each(seen.slice(0, 1, 2).contiguous(), alone(other), 1e-5);
}

TEST(Eye, ThreadsMaySeeAtOnce) {
  const ImageSense sense = taught({.picture = 64, .layers = "block04"});
  const Value value{.text = "x", .numbers = picture(64, 64)};
  const Tensor expected = sense(value).features;
  std::vector<Tensor> seen(4);
  parallel_for(4, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) seen[static_cast<std::size_t>(i)] = sense(value).features;
  });
  for (const Tensor& each : seen) expect_near_each(each, expected, 1e-5);
}

TEST(Eye, TellsWhatIsWrongWithWeightsAndNames) {
  const std::vector<NamedTensor> resnet = timm_tensors(encoder_named("resnet18"));
  EXPECT_EQ(message_of([&] { ImageSense({}).learn({.weights = resnet}); }),
            "[efficientnet-lite0] the file of weights has no tensor conv_stem.weight: it is of another encoder");
  const std::string fifty = message_of([&] { ImageSense({.encoder = "resnet50"}).learn({.weights = resnet}); });
  EXPECT_TRUE(fifty.starts_with("[resnet50] the file of weights has no tensor layer1.0.downsample.0.weight")) << fifty;
  const std::string none = message_of([] { ImageSense({}).learn({}); });
  EXPECT_NE(none.find("--encoder-weights"), std::string::npos) << none;
  const std::string name = message_of([] { EyePlan({.encoder = "resnet"}); });
  EXPECT_TRUE(name.starts_with("[encoder] there is none named resnet")) << name;
  EXPECT_EQ(message_of([] { EyePlan({.encoder = "resnet18", .layers = "layer5"}); }),
            "[resnet18] there is no layer layer5; it has stem, layer1, layer2, layer3, layer4");
}

}  // namespace
}  // namespace heed
