#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "heed/nn/parameters.h"
#include "heed/store/safetensors.h"

namespace heed {

// All parameters of a model as one safetensors file. One that is held in eight bits is of type I8, and beside it stand
// the scales of its outputs: "weight.scales", or "table.row_scales" where its rows are the outputs.
void save_parameters(const std::filesystem::path& path, const Parameters& parameters, const Metadata& metadata = {},
                     const AtomicFile::BeforeRename& before = {});

// What a file gives to the parameters of a model that is made of it. The tensors are views of the mapped file, which
// may be replaced or deleted meanwhile, and are read when they are first used. One that the file does not have, or has
// in another shape, is an Error as soon as the model asks for it: no model becomes larger than its file.
class ParametersFile {
 public:
  // Where the file has more than parameters, they are those whose names begin with the prefix.
  explicit ParametersFile(const std::filesystem::path& path, std::string prefix = "");

  Var operator()(const std::string& name, const Shape& shape) const;
  // An Error that lists what the file has under the prefix beyond these parameters.
  void require_no_others(const Parameters& parameters) const;

 private:
  std::string name_, prefix_;
  std::shared_ptr<const SafetensorsFile> file_;
};

}  // namespace heed
