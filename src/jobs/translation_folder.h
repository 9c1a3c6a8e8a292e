#pragma once

#include <filesystem>
#include <memory>

#include "heed/data/vocabulary.h"
#include "heed/models/system.h"
#include "heed/store/model_folder.h"

namespace heed {

// Everything of one translation model that is needed to run it.
struct TranslationBundle {
  std::string name;  // of the system
  std::unique_ptr<Config> config;
  std::shared_ptr<const Vocabulary> source, target;
  std::unique_ptr<Parameters> parameters;
  std::unique_ptr<Writer> model;
};

// A new one with fresh weights. The config's vocabulary sizes are filled in.
TranslationBundle make_translation(const std::string& name, std::unique_ptr<Config> config,
                                   std::shared_ptr<const Vocabulary> source, std::shared_ptr<const Vocabulary> target,
                                   std::uint64_t seed);
// Its folder: configuration and vocabularies, and the other files given.
ModelFolder create_translation_folder(const std::filesystem::path& path, const TranslationBundle& bundle,
                                      std::vector<ModelFolder::File> others, bool replace);
// From a folder, with or without the trained weights. A vocabulary of another size than the model's is an Error.
enum class FolderWeights { trained, fresh };
TranslationBundle load_translation(const ModelFolder& folder, FolderWeights weights, std::uint64_t seed = 1);

}  // namespace heed
