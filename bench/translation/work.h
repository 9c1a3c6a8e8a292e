#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/data/sample_batches.h"
#include "heed/models/system.h"
#include "heed/train/optimiser.h"
#include "heed/train/workers.h"

// What training and decoding share: made-up sentence pairs of Multi30k's lengths, the models in their small presets,
// and updates of them. bench/peers/torch_translation.py has the same.

namespace heed::bench {

inline constexpr Index kVocabulary = 8000;

// The frequent words come first: the cube of an even spread of 24 bits, in whole numbers so that the peers get the
// same.
std::int32_t frequent_word(std::int32_t bits, Index vocabulary);

// Pairs whose sides have up to so many words, the shortest two words fewer.
struct MadeUpPairs {
  Index pairs = 0, source = 0, target = 0;
  bool copied = false;  // every other word of the target, from the first on, stands in the source
};
SampleBatch made_up_batch(const MadeUpPairs& made_up, std::uint32_t seed);

// Rows [begin, end) of everything, no wider than the longest of them.
Source rows_of(const Source& all, Index begin, Index end);

// Four batches of like length, about 2048 words on each side, 14 words per sentence on average; rare words are rare.
std::vector<SampleBatch> made_up_batches();

// A registered system in its small preset. The weights pass to the peers through a file in $HEED_BENCH_FOLDER.
struct SmallModel {
  // `configure` sets what the model reads and writes; without it both are kVocabulary words.
  explicit SmallModel(const std::string& name, const std::function<void(Config&)>& configure = {});
  Parameters parameters{1};
  std::unique_ptr<Writer> model;
};
std::filesystem::path weights_file(const std::string& name);

// Adam as `heed train` sets it, a batch cut into as many shards as there are threads.
class Updates {
 public:
  Updates(SmallModel& small, int threads, double label_smoothing = 0.1);
  // One update; the smoothed cross-entropy per word. Dropout is left out where numbers are compared.
  double run(const SampleBatch& batch, bool dropout);

 private:
  SmallModel& small_;
  Workers workers_;
  Optimiser optimiser_;
  double label_smoothing_;
  Index step_ = 0;
};

}  // namespace heed::bench
