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

// The same model with another normaliser and the same weights. An Error if they do not fit, or if the system refuses.
Bundle exchanged(const Bundle& bundle, const std::string& normaliser) {
  const System& system = *bundle.system;
  std::unique_ptr<Config> config = system.config(system.presets.front());
  for (const FieldDescription& field : describe_fields(fields_of(*bundle.config)))
    set_field(fields_of(*config), field.name, field.value, system.name);
  set_field(fields_of(*config), kNormaliser, normaliser, system.name);
  const auto require_fit = [&](bool fit) {
    require(fit, "{} has parameters of its own, or takes some away: the weights of the model do not fit", normaliser);
  };
  const Parameters& own = *bundle.parameters;
  Bundle changed = make_bundle(*bundle.job, system, std::move(config), bundle.codes, 1,
                               [&](const std::string& name, const Shape& shape) {
                                 require_fit(own.contains(name) && own.at(name).shape() == shape);
                                 return own.at(name);
                               });
  require_fit(changed.parameters->entries().size() == own.entries().size());
  changed.example = bundle.example, changed.languages = bundle.languages;
  changed.unlinked_at_end = bundle.unlinked_at_end;
  return changed;
}

bool takes(const Bundle& bundle, const std::string& normaliser) {
  try {
    exchanged(bundle, normaliser);
    return true;
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
  return std::make_shared<const Bundle>(exchanged(bundle, name));
}

std::vector<std::string> other_normalisers(const Bundle& bundle) {
  const std::string own = normaliser_of(bundle);
  if (own.empty()) return {};
  std::vector<std::string> fitting = normaliser_names();
  std::erase_if(fitting, [&](const std::string& name) { return name == own || !takes(bundle, name); });
  return fitting;
}

}  // namespace heed
