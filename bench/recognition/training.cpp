// Training of the listener: one repetition is an update for each of four batches of made-up sounds, 2 to 6 seconds of
// them. In the repetitions that are compared dropout and masks are off, in those that are timed they are on.
// bench/peers/torch_listener.py has the same.
#include "heed/data/symbols.h"
#include "heed/models/listener.h"
#include "heed/store/parameters_file.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr Index kUtterances = 16, kWidth = 123, kLetters = 30;
constexpr Index kFrames[] = {200, 300, 450, 600}, kFramesPerLetter = 8;  // of the longest of each batch

SampleBatch made_up_sounds(Index frames, std::uint32_t seed) {
  const Index longest = frames / kFramesPerLetter, width = longest + 1;
  const Shape shape{kUtterances, width};
  const Ids letters = filled_ids(shape, seed + 1, static_cast<std::int32_t>(kLetters - 3));
  const Ids shorter = filled_ids(Shape{kUtterances}, seed + 2, 5);  // by so many letters, and their frames
  SampleBatch batch;
  Source& sounds = batch.inputs.emplace_back();
  sounds.features = filled(Shape{kUtterances, frames, kWidth}, seed);
  sounds.lengths = Ids(Shape{kUtterances});
  batch.previous = {Ids(shape, kEnd), Ids(Shape{kUtterances})};
  batch.expected = Ids(shape, -1);
  for (Index b = 0; b < kUtterances; ++b) {
    const Index n = longest - shorter.at({b});
    std::int32_t* const previous = batch.previous.words.data() + b * width;
    std::int32_t* const expected = batch.expected.data() + b * width;
    for (Index t = 0; t < n; ++t) expected[t] = 3 + letters.at({b, t});
    expected[n] = kEnd;
    previous[0] = kBegin;
    std::copy_n(expected, n, previous + 1);
    sounds.lengths.data()[b] = static_cast<std::int32_t>(frames - kFramesPerLetter * shorter.at({b}));
    batch.previous.lengths.data()[b] = static_cast<std::int32_t>(n + 1);
    batch.words += n + 1;
  }
  return batch;
}

const Family training("recognition-training", [](Settings& settings) -> Step {
  const std::string cell = settings.word("cell", "gru");
  const auto small = std::make_shared<SmallModel>("listener", [&cell](Config& config) {
    config.inputs[0] = kWidth, config.outputs = kLetters;
    dynamic_cast<ListenerConfig&>(config).cell = cell;
  });
  save_parameters(weights_file("listener-" + cell), small->parameters);
  std::vector<SampleBatch> batches;
  for (const Index frames : kFrames)
    batches.push_back(made_up_sounds(frames, static_cast<std::uint32_t>(5000 + frames)));
  return training_step(small, std::move(batches));
});

}  // namespace
}  // namespace heed::bench
