#pragma once

#include <cstdint>
#include <filesystem>

#include "heed/store/model_folder.h"

namespace heed {

// Makes a new folder of a trained model with the weights of its products in eight bits. It is run as the old one is,
// and not trained further. Weights that are not finite, and a model that is in eight bits already, are Errors; nothing
// is written then. `replace`: see ModelFolder::create.
struct QuantisedSize {
  std::uintmax_t before = 0, after = 0;  // bytes of the weights
};
QuantisedSize quantise_folder(const ModelFolder& from, const std::filesystem::path& to, bool replace);

}  // namespace heed
