#include "heed/models/translation.h"

#include <algorithm>

#include "heed/autograd/ops/softmax.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

std::vector<TranslationSystem>& registry() {
  static std::vector<TranslationSystem> list;
  return list;
}

}  // namespace

RegisterTranslationSystem::RegisterTranslationSystem(TranslationSystem system) {
  std::vector<TranslationSystem>& list = registry();
  const auto place =
      std::upper_bound(list.begin(), list.end(), system.name,
                       [](const std::string& name, const TranslationSystem& s) { return name < s.name; });
  list.insert(place, std::move(system));
}

const std::vector<TranslationSystem>& translation_systems() { return registry(); }

const TranslationSystem& translation_system_named(const std::string& name) {
  std::vector<std::string> known;
  for (const TranslationSystem& system : registry()) {
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

Tensor log_probabilities_of(const Tensor& logits) {
  const NoGradient off;
  return log_softmax(Var(logits)).value();
}

Tensor Decoding::Step::log_probabilities() const { return normalised ? words : log_probabilities_of(words); }

}  // namespace heed
