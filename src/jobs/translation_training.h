#pragma once

#include <filesystem>
#include <functional>

#include "heed/data/vocabulary.h"
#include "heed/jobs/translation_options.h"

namespace heed {

struct TrainedTranslation {
  LoopResult result;
  std::filesystem::path folder;
  std::size_t peak_bytes = 0;  // most that tensors took, over all runs
};

// Takes a line about what is being done.
using Say = std::function<void(const std::string&)>;

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // one and the same if they are joint
};
// Those that are given, or learnt from the training's files.
Vocabularies make_vocabularies(const TranslationTraining& training, const Say& say);

// Trains a translation model from text files into a model folder, with progress on the standard error. Vocabularies are
// trained first unless they are given. A folder that holds a model is an Error, or replaced.
TrainedTranslation train_translation(TranslationPlan plan, bool replace, const Say& say);
// Goes on with the training in the folder if it was begun with the same options (threads do not count; what was
// finished stays as it is), and otherwise trains as above.
TrainedTranslation continue_translation(TranslationPlan plan, bool replace, const Say& say);

// The options that a folder was trained with.
TranslationTraining training_of_folder(const std::filesystem::path& folder);
// Goes on exactly where the checkpoint of the folder `training.output` stands.
TrainedTranslation resume_translation(const TranslationTraining& training, const Say& say);

}  // namespace heed
