#include "heed/attention/mechanism.h"

#include <algorithm>

#include "heed/attention/attention.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

std::vector<Mechanism>& registry() {
  static std::vector<Mechanism> list;
  return list;
}

// What it keeps from step to step: "; remembers the last weights", or nothing.
std::string remembered_by(const Mechanism& mechanism) {
  Parameters scratch;
  AttentionOptions options = mechanism.options;
  options.query_width = options.key_width = options.value_width = 2;
  options.longest = 4;
  const Carries carries = Attention(Scope(scratch), options).carries();
  std::vector<std::string> parts;
  if (carries.weights) parts.emplace_back("the last weights");
  if (carries.coverage) parts.emplace_back("the sum of all weights");
  if (carries.read) parts.emplace_back("the last read");
  return parts.empty() ? "" : fmt::format("; remembers {}", fmt::join(parts, ", "));
}

template <class Part>
std::string part_list(const char* title) {
  std::string text = fmt::format("\n{}\n", title);
  auto entries = PartRegistry<Part>::entries();
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::size_t widest = 0;
  for (const auto& entry : entries) widest = std::max(widest, entry.summary.size());
  for (const auto& entry : entries)
    text += fmt::format("  {:<16} {:<{}}  {}\n", entry.name, entry.summary, widest, entry.paper);
  return text;
}

}  // namespace

RegisterMechanism::RegisterMechanism(Mechanism mechanism) {
  std::vector<Mechanism>& list = registry();
  const auto place = std::upper_bound(list.begin(), list.end(), mechanism.name,
                                      [](const std::string& name, const Mechanism& m) { return name < m.name; });
  list.insert(place, std::move(mechanism));
}

const std::vector<Mechanism>& mechanisms() { return registry(); }

const Mechanism& mechanism_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Mechanism& mechanism : registry()) {
    if (mechanism.name == name) return mechanism;
    known.push_back(mechanism.name);
  }
  fail("[attention] there is no mechanism {}{}", name, did_you_mean(name, known));
}

AttentionOptions composed_of(std::string score, std::string window, std::string normaliser) {
  AttentionOptions options;
  options.score = std::move(score);
  options.window = std::move(window);
  options.normaliser = std::move(normaliser);
  return options;
}

std::string describe_attentions() {
  std::string text = "Mechanisms\n";
  for (const Mechanism& m : registry()) {
    text += fmt::format("  {}\n      {}\n      {}\n", m.name, m.paper, m.equation);
    text += fmt::format("      score {}, window {}, normaliser {}{}\n", m.options.score, m.options.window,
                        m.options.normaliser, remembered_by(m));
    text += fmt::format("      time {}, memory {}, sequential steps {}, path {}\n", m.cost.time, m.cost.memory,
                        m.cost.steps, m.cost.path);
  }
  return text + part_list<Score>("Scores") + part_list<Window>("Windows") + part_list<Normaliser>("Normalisers");
}

}  // namespace heed
