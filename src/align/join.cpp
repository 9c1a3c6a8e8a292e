#include "heed/align/join.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

const std::array<std::pair<std::string, Join>, 6> kJoins{{{"grow-diag-final-and", Join::grow_diag_final_and},
                                                          {"grow-diag", Join::grow_diag},
                                                          {"intersection", Join::intersection},
                                                          {"union", Join::union_of_both},
                                                          {"forward", Join::forward},
                                                          {"backward", Join::backward}}};

// Both directions of one pair of sentences, and the links that are taken so far.
class Joining {
 public:
  Joining(std::span<const std::int32_t> forward, std::span<const std::int32_t> backward)
      : forward_(forward),
        backward_(backward),
        taken_(forward.size() * backward.size(), 0),
        source_linked_(backward.size(), 0),
        target_linked_(forward.size(), 0) {}

  bool is_forward(Index target, Index source) const { return forward_[static_cast<std::size_t>(target)] == source; }
  bool is_backward(Index target, Index source) const { return backward_[static_cast<std::size_t>(source)] == target; }
  bool is_taken(Index target, Index source) const { return taken_[place(target, source)] != 0; }
  bool has_target(Index target) const { return target_linked_[static_cast<std::size_t>(target)] != 0; }
  bool has_source(Index source) const { return source_linked_[static_cast<std::size_t>(source)] != 0; }

  void take(Index target, Index source) {
    taken_[place(target, source)] = 1;
    target_linked_[static_cast<std::size_t>(target)] = source_linked_[static_cast<std::size_t>(source)] = 1;
  }
  // Target by target, since what is taken decides about what comes later.
  template <class Condition>
  void take_all(const Condition& condition) {
    for (Index target = 0; target < targets(); ++target)
      for (Index source = 0; source < sources(); ++source)
        if (condition(target, source)) take(target, source);
  }
  void grow() {
    constexpr std::array<std::pair<Index, Index>, 8> kNeighbours{
        {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
    for (bool grown = true; std::exchange(grown, false);)
      for (Index target = 0; target < targets(); ++target)
        for (Index source = 0; source < sources(); ++source) {
          if (!is_taken(target, source)) continue;
          for (const auto& [down, right] : kNeighbours) {
            const Index t = target + down, s = source + right;
            if (t < 0 || t >= targets() || s < 0 || s >= sources()) continue;
            if ((has_target(t) && has_source(s)) || !(is_forward(t, s) || is_backward(t, s))) continue;
            take(t, s);
            grown = true;
          }
        }
  }
  WordLinks links() const {
    WordLinks links;
    for (Index source = 0; source < sources(); ++source)
      for (Index target = 0; target < targets(); ++target)
        if (is_taken(target, source))
          links.emplace_back(static_cast<std::int32_t>(source), static_cast<std::int32_t>(target));
    return links;
  }

 private:
  Index targets() const { return std::ssize(forward_); }
  Index sources() const { return std::ssize(backward_); }
  std::size_t place(Index target, Index source) const { return static_cast<std::size_t>(target * sources() + source); }

  std::span<const std::int32_t> forward_, backward_;
  std::vector<char> taken_;  // [target, source]
  std::vector<char> source_linked_, target_linked_;
};

}  // namespace

Join join_named(std::string_view name) {
  for (const auto& [known, join] : kJoins)
    if (known == name) return join;
  fail("[align] there is no way {} to join alignments{}", name, did_you_mean(std::string(name), join_names()));
}

const std::vector<std::string>& join_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(kJoins.size());
    for (const auto& [name, join] : kJoins) all.push_back(name);
    return all;
  }();
  return names;
}

WordLinks joined(std::span<const std::int32_t> forward, std::span<const std::int32_t> backward, Join join) {
  Joining links(forward, backward);
  const auto in_forward = [&](Index t, Index s) { return links.is_forward(t, s); };
  const auto in_backward = [&](Index t, Index s) { return links.is_backward(t, s); };
  const auto unlinked = [&](Index t, Index s) { return !links.has_target(t) && !links.has_source(s); };
  if (join == Join::forward || join == Join::union_of_both) links.take_all(in_forward);
  if (join == Join::backward || join == Join::union_of_both) links.take_all(in_backward);
  if (join == Join::intersection || join == Join::grow_diag || join == Join::grow_diag_final_and)
    links.take_all([&](Index t, Index s) { return in_forward(t, s) && in_backward(t, s); });
  if (join == Join::grow_diag || join == Join::grow_diag_final_and) links.grow();
  if (join == Join::grow_diag_final_and) {
    links.take_all([&](Index t, Index s) { return in_forward(t, s) && unlinked(t, s); });
    links.take_all([&](Index t, Index s) { return in_backward(t, s) && unlinked(t, s); });
  }
  return links.links();
}

}  // namespace heed
