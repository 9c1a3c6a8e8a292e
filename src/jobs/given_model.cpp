#include "heed/jobs/given_model.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/jobs/training.h"

namespace heed {

FirstModel first_model(const std::string& folder) {
  Bundle bundle = load_bundle(ModelFolder(folder), FolderWeights::trained);
  return {bundle.job->name, bundle.system->name, training_of_folder(folder).preset, std::move(bundle.config)};
}

Codes first_codes(const std::string& folder) { return load_bundle(ModelFolder(folder), FolderWeights::trained).codes; }

std::string give_weights(Bundle& bundle, const std::string& folder) {
  const ModelFolder model(folder);
  model.verify(ModelFolder::Verify::model);
  const ParametersFile stored = model.stored_weights();
  for (Parameters::Entry& each : bundle.parameters->entries()) {
    Tensor value = each.var.value();
    const Tensor given = stored(each.name, value.shape()).value().contiguous();
    std::copy_n(given.data(), given.size(), value.data());
  }
  stored.require_no_others(*bundle.parameters);
  return fmt::format("beginning with the weights of {}", folder);
}

}  // namespace heed
