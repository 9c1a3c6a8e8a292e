#pragma once

#include <filesystem>

#include "heed/nn/parameters.h"
#include "heed/store/safetensors.h"

namespace heed {

// All parameters of a model as one safetensors file.
void save_parameters(const std::filesystem::path& path, const Parameters& parameters, const Metadata& metadata = {});

// Copies the file's values into the parameters. The names and shapes must be the same on both sides: otherwise an
// Error lists what differs and no parameter is changed.
void load_parameters(const std::filesystem::path& path, Parameters& parameters);

}  // namespace heed
