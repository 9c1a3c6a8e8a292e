#pragma once

#include <memory>
#include <set>
#include <string>

#include "heed/jobs/bundle.h"

namespace heed {

// What a training begins with where `--from` names the folder of a trained model: everything of the model, and nothing
// of how it was trained.
struct FirstModel {
  std::string job, model, preset;
  std::unique_ptr<Config> config;
};
FirstModel first_model(const std::string& folder);
// Its vocabularies, labels and what its senses know, for a model of this configuration.
Codes first_codes(const std::string& folder, const Config& config);
// Its weights for a model that has the same parameters, but for those that were given already; others are an Error that
// names one of them. Returns what to say about it.
std::string give_weights(Bundle& bundle, const std::string& folder, const std::set<std::string>& given);

}  // namespace heed
