#pragma once

#include <filesystem>
#include <functional>

#include "heed/jobs/bundle.h"
#include "heed/jobs/training_options.h"

namespace heed {

struct TrainedModel {
  LoopResult result;
  std::filesystem::path folder;
  std::size_t peak_bytes = 0;  // most that tensors took, over all runs
};

// Takes a line about what is being done.
using Say = std::function<void(const std::string&)>;

// The vocabularies and labels that are given, or learnt from the training's files.
Codes make_codes(const Training& training, const Say& say);

// A model is replaced only on request, and one that is being trained not even then: otherwise it is an Error.
void require_free_folder(const std::filesystem::path& folder, bool replace);

// Trains a model from files into a model folder, with progress on the standard error. Vocabularies are learnt first
// unless they are given. A folder that holds a model is an Error, or replaced.
//
// Several ranks train it together: all see the same files and folder and call this with the same plan; differences are
// an Error on all of them that says which rank differs. The first rank learns vocabularies, writes the folder and says
// what is done.
using RanksPointer = std::shared_ptr<Ranks>;
TrainedModel train_model(TrainingPlan plan, bool replace, const Say& say,
                         const RanksPointer& ranks = std::make_shared<Ranks>());
// Goes on with the training in the folder if it was begun with the same options (threads do not count; what was
// finished stays as it is), and otherwise trains as above.
TrainedModel continue_training(TrainingPlan plan, bool replace, const Say& say);

// The options that a folder was trained with.
Training training_of_folder(const std::filesystem::path& folder);
// Goes on exactly where the checkpoint of the folder `training.output` stands.
// What the training reads must be what it read before (jobs/training_data.h), unless changes are accepted.
enum class ChangedData { refused, accepted };
TrainedModel resume_training(const Training& training, const Say& say, ChangedData changed = ChangedData::refused,
                             const RanksPointer& ranks = std::make_shared<Ranks>());

}  // namespace heed
