#include "heed/store/parameters_file.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr Int8Weight::Outputs kOutputs[] = {Int8Weight::Outputs::last, Int8Weight::Outputs::first};

const char* scales_suffix(Int8Weight::Outputs outputs) {
  return outputs == Int8Weight::Outputs::last ? ".scales" : ".row_scales";
}

}  // namespace

void save_parameters(const std::filesystem::path& path, const Parameters& parameters, const Metadata& metadata,
                     const AtomicFile::BeforeRename& before) {
  std::vector<NamedTensor> tensors;
  for (const Parameters::Entry& entry : parameters.entries()) {
    if (const Int8Weight* int8 = entry.var.held_in_int8()) {
      tensors.push_back({entry.name, {}, int8->rounded()});
      tensors.push_back({entry.name + scales_suffix(int8->outputs()), int8->scales()});
    } else {
      tensors.push_back({entry.name, entry.var.value()});
    }
  }
  save_safetensors(path, tensors, metadata, before);
}

ParametersFile::ParametersFile(const std::filesystem::path& path, std::string prefix)
    : name_(path.string()), prefix_(std::move(prefix)), file_(std::make_shared<const SafetensorsFile>(path)) {}

Var ParametersFile::operator()(const std::string& name, const Shape& shape) const {
  const std::string stored = prefix_ + name;
  require(file_->contains(stored), "{}: the model has a parameter {} that is missing in it", name_, Quoted{name});
  const Shape found = file_->info(stored).shape;
  require(found == shape, "{}: its {} is {}, but the model's is {}", name_, Quoted{name}, found, shape);
  if (file_->info(stored).dtype != Dtype::i8) return file_->tensor(stored);
  for (const Int8Weight::Outputs outputs : kOutputs) {
    const std::string scales = stored + scales_suffix(outputs);
    if (!file_->contains(scales)) continue;
    try {
      return Var::leaf(std::make_shared<const Int8Weight>(file_->bytes(stored), file_->tensor(scales), outputs));
    } catch (const Error& error) {
      fail("{}: {}: {}", name_, Quoted{name}, error.what());
    }
  }
  fail("{}: {} is of eight bits and has no scales", name_, Quoted{name});
}

void ParametersFile::require_no_others(const Parameters& parameters) const {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> others;
  const auto known = [&](const std::string& name) {
    if (parameters.contains(name)) return true;
    return std::any_of(std::begin(kOutputs), std::end(kOutputs), [&](Int8Weight::Outputs outputs) {
      const std::string_view suffix = scales_suffix(outputs);
      return name.ends_with(suffix) && parameters.contains(name.substr(0, name.size() - suffix.size()));
    });
  };
  for (const std::string& name : file_->names())
    if (name.starts_with(prefix_) && !known(name.substr(prefix_.size()))) others.push_back(Quoted{name}.shown());
  const auto end = others.begin() + static_cast<Index>(std::min(others.size(), kShown));
  require(others.empty(), "{}: it has what is no parameter of the model: {}{}", name_,
          fmt::join(others.begin(), end, ", "),
          others.size() > kShown ? fmt::format(" and {} more", others.size() - kShown) : "");
}

}  // namespace heed
