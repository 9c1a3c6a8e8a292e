#include "heed/jobs/variant.h"

#include <algorithm>

#include "heed/attention/parts.h"
#include "heed/base/error.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

constexpr const char* kNormaliser = "normaliser";

VisitFields fields_of(Config& config) {
  return [&config](Fields& field) { config.visit(field); };
}

std::string value_of(const Bundle& bundle, const char* name) {
  for (const FieldDescription& field : describe_fields(fields_of(*bundle.config)))
    if (field.name == name) return field.value;
  return "";
}

std::vector<std::string> normaliser_names() {
  std::vector<std::string> names;
  for (const PartEntry<Normaliser>& entry : RegisterNormaliser::entries()) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

// Its weights are not set yet.
Bundle exchanged(const Bundle& bundle, const std::string& normaliser) {
  const System& system = *bundle.system;
  std::unique_ptr<Config> config = system.config(system.presets.front());
  for (const FieldDescription& field : describe_fields(fields_of(*bundle.config)))
    set_field(fields_of(*config), field.name, field.value, system.name);
  set_field(fields_of(*config), kNormaliser, normaliser, system.name);
  Bundle changed = make_bundle(*bundle.job, system, std::move(config), bundle.codes, bundle.config->inputs, 1,
                               FirstValues::left_unset);
  changed.example = bundle.example, changed.languages = bundle.languages;
  return changed;
}

bool same_parameters(const Bundle& a, const Bundle& b) {
  const auto &from = a.parameters->entries(), &to = b.parameters->entries();
  return std::equal(from.begin(), from.end(), to.begin(), to.end(), [](const auto& one, const auto& other) {
    return one.name == other.name && one.var.shape() == other.var.shape();
  });
}

// Whether the weights fit. A composition that the system itself refuses does not.
bool takes(const Bundle& bundle, const std::string& normaliser) {
  try {
    return same_parameters(bundle, exchanged(bundle, normaliser));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string attention_of(const Bundle& bundle) {
  const std::string score = value_of(bundle, "score");
  if (score.empty()) return "";
  return fmt::format("{} × {} × {}", score, value_of(bundle, "window"), normaliser_of(bundle));
}

std::string normaliser_of(const Bundle& bundle) { return value_of(bundle, kNormaliser); }

std::shared_ptr<const Bundle> with_normaliser(const Bundle& bundle, const std::string& name) {
  const std::vector<std::string> known = normaliser_names();
  require(std::find(known.begin(), known.end(), name) != known.end(), "there is no normaliser {}{}", name,
          did_you_mean(name, known));
  require(!normaliser_of(bundle).empty(), "{} has no normaliser that can be exchanged", bundle.system->name);
  Bundle changed = exchanged(bundle, name);
  require(same_parameters(bundle, changed),
          "{} has parameters of its own, or takes some away: the weights of the model do not fit", name);
  const auto& from = bundle.parameters->entries();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Tensor values = from[i].var.value().contiguous();
    std::copy_n(values.data(), values.size(), changed.parameters->entries()[i].var.value().data());
  }
  return std::make_shared<const Bundle>(std::move(changed));
}

std::vector<std::string> other_normalisers(const Bundle& bundle) {
  const std::string own = normaliser_of(bundle);
  if (own.empty()) return {};
  std::vector<std::string> fitting = normaliser_names();
  std::erase_if(fitting, [&](const std::string& name) { return name == own || !takes(bundle, name); });
  return fitting;
}

}  // namespace heed
