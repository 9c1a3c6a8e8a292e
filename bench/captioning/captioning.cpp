// Captions for made-up features of EfficientNet-Lite0's head, 7 x 7 regions: one repetition of training is an update
// for each of four batches, one of writing a beam search of width 5 for 64 images, together or one by one. In the
// repetitions that are compared dropout is off, in those of training that are timed it is on.
// bench/peers/torch_captioning.py has the same.
#include <algorithm>

#include "heed/data/symbols.h"
#include "heed/store/parameters_file.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr Index kCaptionWords = 3000, kRegions = 49, kFeatures = 1280;
constexpr Index kImages = 64, kLongestCaption[] = {9, 11, 13, 17};  // of each batch
constexpr Index kWritten = 12;                                      // words of a caption that is written, at most

Tensor features_of(std::uint32_t seed) { return filled(Shape{kImages, kRegions, kFeatures}, seed); }

SampleBatch caption_batch(Index longest) {
  const auto seed = static_cast<std::uint32_t>(5000 + 10 * longest);
  const Shape shape{kImages, longest + 1};
  const Ids bits = filled_ids(shape, seed, 1 << 24), shorter = filled_ids(Shape{kImages}, seed + 1, 3);
  SampleBatch batch;
  batch.inputs = {
      {.lengths = Ids(Shape{kImages}, static_cast<std::int32_t>(kRegions)), .features = features_of(seed + 2)}};
  batch.previous = {.words = Ids(shape, kEnd), .lengths = Ids(Shape{kImages})};
  batch.expected = Ids(shape, -1);
  for (Index b = 0; b < kImages; ++b) {
    const Index n = longest - shorter.at({b});
    std::int32_t* const previous = batch.previous.words.data() + b * (longest + 1);
    std::int32_t* const expected = batch.expected.data() + b * (longest + 1);
    for (Index t = 0; t < n; ++t) expected[t] = frequent_word(bits.at({b, t}), kCaptionWords);
    expected[n] = kEnd;
    previous[0] = kBegin;
    std::copy_n(expected, n, previous + 1);
    batch.previous.lengths.data()[b] = static_cast<std::int32_t>(n + 1);
    batch.words += n + 1;
  }
  return batch;
}

std::shared_ptr<SmallModel> captioner(Settings& settings) {
  const std::string name = settings.word("model", "show-attend-tell");
  const auto small = std::make_shared<SmallModel>(
      name, [](Config& config) { config.inputs[0] = kFeatures, config.outputs = kCaptionWords; });
  save_parameters(weights_file(name), small->parameters);
  return small;
}

const Family caption_training("captioning-training", [](Settings& settings) -> Step {
  std::vector<SampleBatch> batches;
  for (const Index longest : kLongestCaption) batches.push_back(caption_batch(longest));
  return training_step(captioner(settings), std::move(batches), {.label_smoothing = 0, .rate = 1e-3F, .beta2 = 0.999});
});

// With its first weights a model hardly ever ends by itself: all captions have as many words as they may.
const Family caption_writing("captioning-writing", [](Settings& settings) -> Step {
  BatchedSearch search;
  search.batch.samples = settings.number("images", 64);
  search.options.longest_factor = 0;
  search.options.longest_extra = kWritten;
  const Tensor features = features_of(6000);
  std::vector<EncodedSample> images;
  for (Index i = 0; i < kImages; ++i) {
    EncodedInput& input = images.emplace_back().inputs.emplace_back();
    input.features = features.slice(0, i, i + 1).contiguous().reshape(Shape{kRegions, kFeatures});
    input.whole = true;
  }
  return searching_step(captioner(settings), std::move(images), search);
});

}  // namespace
}  // namespace heed::bench
