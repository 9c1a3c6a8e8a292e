#pragma once

#include <filesystem>
#include <functional>

#include "heed/tasks/translation_options.h"

namespace heed {

struct TrainedTranslation {
  LoopResult result;
  std::filesystem::path folder;
};

// Takes a line about what is being done.
using Say = std::function<void(const std::string&)>;

// Trains a translation model from text files into a model folder, with progress on the standard error. Vocabularies are
// trained first unless they are given. A folder that holds a model is an Error, or replaced.
TrainedTranslation train_translation(TranslationPlan plan, bool replace, const Say& say);

// The options that a folder was trained with.
TranslationTraining training_of_folder(const std::filesystem::path& folder);
// Goes on exactly where the checkpoint of the folder `training.output` stands.
TrainedTranslation resume_translation(const TranslationTraining& training, const Say& say);

}  // namespace heed
