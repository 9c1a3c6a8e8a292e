#include "heed/jobs/quantising.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/jobs/bundle.h"

namespace heed {

QuantisedSize quantise_folder(const ModelFolder& from, const std::filesystem::path& to, bool replace) {
  require(!load_bundle(from, FolderWeights::verified).parameters->in_int8(),
          "{}: its weights are in eight bits already", from.path().string());
  const Bundle rounded = load_bundle(from, FolderWeights::trained, 1, Numbers::int8);
  require(rounded.parameters->in_int8(), "{}: {} has no weights that products can have in eight bits",
          from.path().string(), from.model());
  // What the others of its files say is true of it still; what its training goes on from is not.
  std::vector<ModelFolder::File> others;
  for (const char* name : {"training.json", "extractive.json", "reranking.ngrams"})
    if (const auto path = from.path() / name; std::filesystem::exists(path)) others.push_back({name, read_file(path)});
  const ModelFolder made = create_folder(to, rounded, std::move(others), replace);
  made.save_weights(*rounded.parameters);
  return {std::filesystem::file_size(from.weights()), std::filesystem::file_size(made.weights())};
}

}  // namespace heed
