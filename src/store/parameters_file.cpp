#include "heed/store/parameters_file.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"

namespace heed {
void save_parameters(const std::filesystem::path& path, const Parameters& parameters, const Metadata& metadata,
                     const AtomicFile::BeforeRename& before) {
  std::vector<NamedTensor> tensors;
  for (const Parameters::Entry& entry : parameters.entries()) tensors.push_back({entry.name, entry.var.value()});
  save_safetensors(path, tensors, metadata, before);
}

ParametersFile::ParametersFile(const std::filesystem::path& path, std::string prefix)
    : name_(path.string()), prefix_(std::move(prefix)), file_(std::make_shared<const SafetensorsFile>(path)) {}

Tensor ParametersFile::operator()(const std::string& name, const Shape& shape) const {
  const std::string stored = prefix_ + name;
  require(file_->contains(stored), "{}: the model has a parameter {} that is missing in it", name_, Quoted{name});
  const Shape found = file_->info(stored).shape;
  require(found == shape, "{}: its {} is {}, but the model's is {}", name_, Quoted{name}, found, shape);
  return file_->tensor(stored);
}

void ParametersFile::require_no_others(const Parameters& parameters) const {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> others;
  for (const std::string& name : file_->names())
    if (name.starts_with(prefix_) && !parameters.contains(name.substr(prefix_.size())))
      others.push_back(Quoted{name}.shown());
  const auto end = others.begin() + static_cast<Index>(std::min(others.size(), kShown));
  require(others.empty(), "{}: it has what is no parameter of the model: {}{}", name_,
          fmt::join(others.begin(), end, ", "),
          others.size() > kShown ? fmt::format(" and {} more", others.size() - kShown) : "");
}

}  // namespace heed
