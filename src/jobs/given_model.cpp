#include "heed/jobs/given_model.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/jobs/training.h"

namespace heed {

FirstModel first_model(const std::string& folder) {
  Bundle bundle = load_bundle(ModelFolder(folder), FolderWeights::trained);
  return {bundle.job->name, bundle.system->name, training_of_folder(folder).preset, std::move(bundle.config)};
}

Codes first_codes(const std::string& folder, const Config& config) {
  Bundle first = load_bundle(ModelFolder(folder), FolderWeights::trained);
  for (std::size_t i = 0; i < first.codes.senses.size(); ++i) {
    if (!first.codes.senses[i]) continue;
    std::shared_ptr<Sense> sense = make_sense(*first.job, *first.system, config, i);
    if (sense->succeed(*first.codes.senses[i])) first.codes.senses[i] = std::move(sense);
  }
  return std::move(first.codes);
}

std::string give_weights(Bundle& bundle, const std::string& folder, const std::set<std::string>& given) {
  const ModelFolder model(folder);
  model.verify(ModelFolder::Verify::model);
  const ParametersFile stored = model.stored_weights();
  for (Parameters::Entry& each : bundle.parameters->entries()) {
    if (given.contains(each.name)) continue;
    Tensor value = each.var.value();
    const Tensor trained = stored(each.name, value.shape()).value().contiguous();
    std::copy_n(trained.data(), trained.size(), value.data());
  }
  stored.require_no_others(*bundle.parameters);
  return fmt::format("beginning with the weights of {}", folder);
}

}  // namespace heed
