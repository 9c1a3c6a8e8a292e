#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/gold_boxes.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Drawn scenes: one thing or two of some shape, colour and size on a background with a gradient, among grey clutter and
// noise, and what a person would say of them: "a small red ring left of a large blue square". Of two things there are
// two captions, one beginning with each. Nouns are shapes; each has its box.
struct Scene {
  Tensor pixels;                            // [kSceneSide, kSceneSide, 3], each in 0..1
  std::vector<std::string> captions;        // one, or two
  std::vector<std::vector<GoldBox>> boxes;  // of the nouns of each caption
};
inline constexpr Index kSceneSide = 64;
inline constexpr Index kSceneLongest = 10;  // words of a caption

// The same for the same seed and number.
Scene draw_scene(std::uint64_t seed, Index number);

struct ScenesOptions {
  std::filesystem::path folder;
  Index scenes = 3000;
  double valid = 0.03, test = 0.05;
  std::uint64_t seed = 1;
  bool force = false;  // replace existing files
};
struct ScenesCounts {
  Index train = 0, valid = 0, test = 0;
};
// Writes images/*.png, train.tsv, valid.tsv and test.tsv (image<TAB>caption, the captions of an image one below the
// other) and test.boxes.jsonl (data/gold_boxes.h) into the folder.
ScenesCounts write_scenes(const ScenesOptions& options);

}  // namespace heed
