#include "heed/store/parameters_file.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

// "; missing from it: a, b"; empty if there is nothing to say.
std::string listed(const char* what, const std::vector<std::string>& items) {
  constexpr std::size_t kShown = 10;
  if (items.empty()) return "";
  const std::size_t shown = std::min(items.size(), kShown);
  const std::string more = items.size() > shown ? fmt::format(" and {} more", items.size() - shown) : "";
  return fmt::format("; {}: {}{}", what, fmt::join(items.begin(), items.begin() + static_cast<Index>(shown), ", "),
                     more);
}

void require_same_names_and_shapes(const std::string& path, const SafetensorsFile& file, const Parameters& parameters) {
  std::vector<std::string> missing, superfluous, misshapen;
  for (const Parameters::Entry& entry : parameters.entries()) {
    if (!file.contains(entry.name)) {
      missing.push_back(Quoted{entry.name}.shown());
    } else if (const Shape found = file.info(entry.name).shape; !(found == entry.var.shape())) {
      misshapen.push_back(fmt::format("{} is {} and should be {}", Quoted{entry.name}, found, entry.var.shape()));
    }
  }
  for (const std::string& name : file.names())
    if (!parameters.contains(name)) superfluous.push_back(Quoted{name}.shown());
  require(missing.empty() && superfluous.empty() && misshapen.empty(),
          "{}: its tensors are not this model's parameters{}{}{}", path, listed("missing", missing),
          listed("superfluous", superfluous), listed("of another shape", misshapen));
}

}  // namespace

void save_parameters(const std::filesystem::path& path, const Parameters& parameters, const Metadata& metadata) {
  std::vector<NamedTensor> tensors;
  for (const Parameters::Entry& entry : parameters.entries()) tensors.push_back({entry.name, entry.var.value()});
  save_safetensors(path, tensors, metadata);
}

void load_parameters(const std::filesystem::path& path, Parameters& parameters) {
  const SafetensorsFile file(path);
  require_same_names_and_shapes(path.string(), file, parameters);
  // All are read before the first is changed: a wrong dtype or too little memory must not leave a mixture.
  std::vector<Tensor> values;
  for (const Parameters::Entry& entry : parameters.entries()) values.push_back(file.tensor(entry.name));
  for (std::size_t i = 0; i < values.size(); ++i)
    std::copy_n(values[i].data(), values[i].size(), parameters.entries()[i].var.value().data());
}

}  // namespace heed
