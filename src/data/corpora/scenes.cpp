#include "heed/data/corpora/scenes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/data/images/image.h"

namespace heed {
namespace {

using Colour = std::array<double, 3>;

struct Point {
  double x, y;
};

// Whether a place, counted from the thing's middle in halves of its side, belongs to the shape.
struct ShapeOfThing {
  const char* noun;
  bool (*covers)(double x, double y);
};
constexpr double kBar = 0.34, kHole = 0.55;
constexpr std::array<ShapeOfThing, 6> kShapes{{
    {"circle", [](double x, double y) { return x * x + y * y <= 1; }},
    {"square", [](double x, double y) { return std::max(std::abs(x), std::abs(y)) <= 0.9; }},
    {"triangle", [](double x, double y) { return y <= 0.9 && std::abs(x) <= (y + 1) / 1.9; }},
    {"cross",
     [](double x, double y) {
       return std::max(std::abs(x), std::abs(y)) <= 1 && std::min(std::abs(x), std::abs(y)) <= kBar;
     }},
    {"ring",
     [](double x, double y) {
       const double square = x * x + y * y;
       return square <= 1 && square >= kHole * kHole;
     }},
    {"diamond", [](double x, double y) { return std::abs(x) + std::abs(y) <= 1; }},
}};

struct NamedColour {
  const char* adjective;
  Colour colour;
};
constexpr std::array<NamedColour, 6> kPaints{{{"red", {0.85, 0.12, 0.12}},
                                              {"green", {0.10, 0.62, 0.18}},
                                              {"blue", {0.12, 0.22, 0.88}},
                                              {"yellow", {0.95, 0.88, 0.12}},
                                              {"purple", {0.55, 0.12, 0.65}},
                                              {"orange", {0.98, 0.52, 0.08}}}};

struct SizeOfThing {
  const char* adjective;
  double smallest, largest;  // half of its side, of the picture's
};
constexpr std::array<SizeOfThing, 2> kSizes{{{"small", 0.10, 0.13}, {"large", 0.19, 0.23}}};

struct Thing {
  std::size_t shape, colour, size;
  Point middle;
  double half;

  std::string text() const {
    return fmt::format("a {} {} {}", kSizes[size].adjective, kPaints[colour].adjective, kShapes[shape].noun);
  }
  GoldBox box(Index word) const { return {word, middle.x - half, middle.y - half, middle.x + half, middle.y + half}; }
};
constexpr Index kNounOfFirst = 3;  // "a small red circle"

double between(RandomSequence& random, double low, double high) { return low + (high - low) * random.uniform(); }

Thing draw_thing(RandomSequence& random) {
  Thing thing{random.below(kShapes.size()), random.below(kPaints.size()), random.below(kSizes.size()), {}, 0};
  thing.half = between(random, kSizes[thing.size].smallest, kSizes[thing.size].largest);
  thing.middle = {between(random, thing.half, 1 - thing.half), between(random, thing.half, 1 - thing.half)};
  return thing;
}

// How the first thing stands to the second; nothing where that could be said in two ways, or they are too near.
const char* relation(const Thing& first, const Thing& second) {
  const double x = second.middle.x - first.middle.x, y = second.middle.y - first.middle.y;
  const double wide = std::abs(x), high = std::abs(y), apart = first.half + second.half + 0.03;
  if (std::max(wide, high) < apart || std::max(wide, high) < 1.5 * std::min(wide, high)) return nullptr;
  if (wide > high) return x > 0 ? "left of" : "right of";
  return y > 0 ? "above" : "below";
}

void describe(const std::vector<Thing>& things, Scene& scene) {
  if (things.size() == 1) {
    scene.captions = {things[0].text()};
    scene.boxes = {{things[0].box(kNounOfFirst)}};
    return;
  }
  for (const auto& [first, second] : {std::pair{0, 1}, std::pair{1, 0}}) {
    const Thing &a = things[static_cast<std::size_t>(first)], &b = things[static_cast<std::size_t>(second)];
    const std::string caption = fmt::format("{} {} {}", a.text(), relation(a, b), b.text());
    scene.captions.push_back(caption);
    scene.boxes.push_back({a.box(kNounOfFirst), b.box(std::count(caption.begin(), caption.end(), ' '))});
  }
}

// A grey stroke that means nothing.
struct Stroke {
  Point from, to;
  double grey, half_width;

  bool covers(double x, double y) const {
    const double across = to.x - from.x, down = to.y - from.y;
    const double along =
        std::clamp(((x - from.x) * across + (y - from.y) * down) / (across * across + down * down), 0.0, 1.0);
    return std::hypot(x - from.x - along * across, y - from.y - along * down) <= half_width;
  }
};
Stroke draw_stroke(RandomSequence& random) {
  const Point from{random.uniform(), random.uniform()};
  return {from,
          {from.x + between(random, -0.2, 0.2), from.y + between(random, 0.02, 0.2)},
          between(random, 0.25, 0.75),
          between(random, 0.005, 0.015)};
}

// Things lie upon strokes, strokes upon a background that goes from one colour to another.
struct Canvas {
  std::vector<Thing> things;
  std::vector<Stroke> strokes;
  Colour from, to;

  Colour at(double x, double y) const {
    for (const Thing& thing : things)
      if (kShapes[thing.shape].covers((x - thing.middle.x) / thing.half, (y - thing.middle.y) / thing.half))
        return kPaints[thing.colour].colour;
    for (const Stroke& stroke : strokes)
      if (stroke.covers(x, y)) return {stroke.grey, stroke.grey, stroke.grey};
    Colour colour{};
    for (std::size_t c = 0; c < 3; ++c) colour[c] = from[c] + (to[c] - from[c]) * (x + y) / 2;
    return colour;
  }
};

// Each pixel is the mean of four places in it, and noise.
Tensor paint(const Canvas& canvas, double noise, RandomSequence& random) {
  Tensor pixels(Shape{kSceneSide, kSceneSide, 3});
  constexpr std::array<double, 2> kSpots{0.25, 0.75};
  for (Index row = 0; row < kSceneSide; ++row)
    for (Index column = 0; column < kSceneSide; ++column) {
      Colour sum{};
      for (const double down : kSpots)
        for (const double across : kSpots) {
          const Colour one = canvas.at((static_cast<double>(column) + across) / static_cast<double>(kSceneSide),
                                       (static_cast<double>(row) + down) / static_cast<double>(kSceneSide));
          for (std::size_t c = 0; c < 3; ++c) sum[c] += one[c] / 4;
        }
      for (std::size_t c = 0; c < 3; ++c)
        pixels.data()[(row * kSceneSide + column) * 3 + static_cast<Index>(c)] =
            static_cast<Real>(std::clamp(sum[c] + noise * random.normal(), 0.0, 1.0));
    }
  return pixels;
}

}  // namespace

Scene draw_scene(std::uint64_t seed, Index number) {
  RandomSequence random(RandomKey{seed, 0}.derive(static_cast<std::uint64_t>(number)));
  Canvas canvas;
  canvas.things = {draw_thing(random)};
  if (random.uniform() < 0.85) {
    canvas.things.push_back(draw_thing(random));
    while (relation(canvas.things[0], canvas.things[1]) == nullptr)
      canvas.things = {draw_thing(random), draw_thing(random)};
  }
  const std::uint64_t strokes = 3 + random.below(6);
  for (std::uint64_t i = 0; i < strokes; ++i) canvas.strokes.push_back(draw_stroke(random));
  // Light backgrounds, nearly grey.
  for (Colour* end : {&canvas.from, &canvas.to}) {
    const double grey = between(random, 0.6, 0.9);
    for (double& channel : *end) channel = grey + between(random, -0.06, 0.06);
  }
  Scene scene;
  scene.pixels = paint(canvas, between(random, 0.01, 0.04), random);
  describe(canvas.things, scene);
  return scene;
}

ScenesCounts write_scenes(const ScenesOptions& options) {
  require(options.valid >= 0 && options.test >= 0 && options.valid + options.test < 1,
          "[corpus] shares of {} and {} for validation and test leave nothing for training", options.valid,
          options.test);
  constexpr std::array<const char*, 3> kSceneParts{"train", "valid", "test"};
  constexpr std::size_t kScenesTest = 2;
  for (const char* name : {"train.tsv", "valid.tsv", "test.tsv", "test.boxes.jsonl"})
    require(options.force || !std::filesystem::exists(options.folder / name),
            "{}: it is there already; --force replaces it", (options.folder / name).string());
  std::filesystem::create_directories(options.folder / "images");
  std::array<std::string, kSceneParts.size()> tables;
  std::array<Index, kSceneParts.size()> counts{};
  std::string gold;
  const auto share = [&](double part) { return std::llround(part * static_cast<double>(options.scenes)); };
  const Index valid = share(options.valid), test = share(options.test);
  for (Index i = 0; i < options.scenes; ++i) {
    const Scene scene = draw_scene(options.seed, i);
    const std::size_t part = i < valid ? 1 : i < valid + test ? kScenesTest : 0;
    const std::string name = fmt::format("images/{:06}.png", i + 1);
    AtomicFile image(options.folder / name);
    image.write(png_of(scene.pixels));
    image.commit_soon();
    for (const std::string& caption : scene.captions) tables[part] += fmt::format("{}\t{}\n", name, caption);
    if (part == kScenesTest) gold += gold_boxes_line(scene.boxes.front()) + "\n";
    ++counts[part];
  }
  require(counts[0] > 0, "[corpus] there is nothing to train on");
  put_on_disk(options.folder);  // the images, before tables name them
  for (std::size_t part = 0; part < kSceneParts.size(); ++part)
    write_file(options.folder / (std::string(kSceneParts[part]) + ".tsv"), tables[part]);
  write_file(options.folder / "test.boxes.jsonl", gold);
  return {counts[0], counts[1], counts[2]};
}

}  // namespace heed
