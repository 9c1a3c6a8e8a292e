#pragma once

#include <filesystem>

#include "heed/jobs/bundle.h"
#include "heed/jobs/training.h"
#include "heed/jobs/training_data.h"

// What several ranks settle before they train together. A process alone has nothing to settle. Each function is called
// by all ranks; what one of them finds wrong is an Error on all.

namespace heed {

// Every file that the training's options name.
std::vector<std::string> all_files(const Training& training);

// Only the first rank says what is done.
Say said_once(const Ranks& ranks, const Say& say);

// Ranks must be of one program, and told the same. Threads are each machine's own.
void require_same_options(Ranks& ranks, const VisitFields& visit);
void require_same_data(Ranks& ranks, const TrainingData& data);
// A file that is read once would be read by one of them.
void require_files_for_all(const Ranks& ranks, const Training& training);

// Ranks on one machine share its processors, unless the launcher gave each its own.
void share_processors(const Ranks& ranks);
// Parameters are updated on every rank by itself, so all use the kernels that all have.
void use_common_kernels(Ranks& ranks, const Say& say);
// A batch is cut into as many pieces as there are processors, unless another number is asked for: it must then fit the
// ranks (train/workers.h).
void choose_shards(Training& training, Ranks& ranks);

// The folder that the first rank sees there.
ModelFolder folder_of_first(Ranks& ranks, const std::filesystem::path& path);
void share_parameters(Ranks& ranks, Bundle& bundle);

}  // namespace heed
