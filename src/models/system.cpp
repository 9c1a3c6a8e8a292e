#include "heed/models/system.h"

#include <algorithm>

#include "heed/base/spelling.h"

namespace heed {
namespace {

std::vector<System>& registry() {
  static std::vector<System> list;
  return list;
}

}  // namespace

RegisterSystem::RegisterSystem(System system) {
  std::vector<System>& list = registry();
  const auto place = std::upper_bound(list.begin(), list.end(), system.name,
                                      [](const std::string& name, const System& s) { return name < s.name; });
  list.insert(place, std::move(system));
}

const std::vector<System>& systems() { return registry(); }

const System& system_named(const std::string& name) {
  std::vector<std::string> known;
  for (const System& system : registry()) {
    if (system.name == name) return system;
    known.push_back(system.name);
  }
  fail("[model] there is no model {}{}", name, did_you_mean(name, known));
}

Var WordScores::logits() const { return logits_ ? logits_ : linear(x_, weight_, bias_, Activation::identity, flip_); }

Var WordScores::cross_entropy(const Ids& expected, const CrossEntropy& options) const {
  return logits_ ? heed::cross_entropy(logits_, expected, options)
                 : linear_cross_entropy(x_, weight_, bias_, expected, options, flip_);
}

}  // namespace heed
