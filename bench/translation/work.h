#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attention/settings.h"
#include "heed/data/sample_batches.h"
#include "heed/jobs/batched_search.h"
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
  // The same model with its weights in eight bits, to be run.
  static std::shared_ptr<SmallModel> in_eight_bits(const SmallModel& drawn);
  std::string system;
  std::shared_ptr<const Config> config;
  Parameters parameters{1};
  std::unique_ptr<Writer> model;

 private:
  SmallModel() = default;
};
std::filesystem::path weights_file(const std::string& name);

// Adam as `heed train` sets it, a batch cut into as many shards as there are threads.
struct UpdateOptions {
  double label_smoothing = 0.1;
  Real rate = 3e-4F;
  double beta2 = 0.98;
};
class Updates {
 public:
  Updates(SmallModel& small, int threads, const UpdateOptions& options = {});
  // One update; the smoothed cross-entropy per word. Dropout is left out where numbers are compared.
  double run(const SampleBatch& batch, bool dropout);

 private:
  SmallModel& small_;
  Workers workers_;
  Optimiser optimiser_;
  UpdateOptions options_;
  Index step_ = 0;
};

// One repetition of training: an update for each batch, without dropout where the losses are wanted.
Step training_step(std::shared_ptr<SmallModel> small, std::vector<SampleBatch> batches,
                   const UpdateOptions& options = {});
// One of searching: all samples together, or, where a batch has one, as they come. The best outputs and their scores.
Step searching_step(std::shared_ptr<SmallModel> small, std::vector<EncodedSample> samples, const BatchedSearch& search);

}  // namespace heed::bench
