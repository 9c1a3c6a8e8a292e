#include "heed/align/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "heed/base/error.h"

namespace heed {

void LinkCounts::add(const WordLinks& links, std::span<const std::int32_t> source,
                     std::span<const std::int32_t> target) {
  for (const auto& [s, t] : links) {
    require(static_cast<std::size_t>(s) < source.size() && static_cast<std::size_t>(t) < target.size(),
            "[shortlist] the link {}-{} is outside its sentences of {} and {} words", s, t, source.size(),
            target.size());
    const auto from = static_cast<std::uint32_t>(source[static_cast<std::size_t>(s)]);
    const auto to = static_cast<std::uint32_t>(target[static_cast<std::size_t>(t)]);
    ++counts_[std::uint64_t{from} << 32U | to];
  }
}

std::vector<LinkCounts::Entry> LinkCounts::entries(std::size_t best, double threshold) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts(counts_.begin(), counts_.end());
  std::ranges::sort(counts);
  std::vector<Entry> kept;
  for (auto begin = counts.begin(); begin != counts.end();) {
    const std::uint64_t source = begin->first >> 32U;
    const auto end = std::find_if(begin, counts.end(), [&](const auto& each) { return each.first >> 32U != source; });
    std::uint64_t sum = 0;
    for (auto each = begin; each != end; ++each) sum += each->second;
    std::stable_sort(begin, end, [](const auto& a, const auto& b) { return a.second > b.second; });
    for (auto each = begin; each != end && static_cast<std::size_t>(each - begin) < best; ++each) {
      const double probability = static_cast<double>(each->second) / static_cast<double>(sum);
      if (probability <= threshold) break;
      kept.push_back({static_cast<std::int32_t>(source), static_cast<std::int32_t>(each->first & 0xffffffffU),
                      static_cast<float>(probability)});
    }
    begin = end;
  }
  return kept;
}

std::string shortlist_text(std::span<const LinkCounts::Entry> entries, const WordOfNumber& source,
                           const WordOfNumber& target) {
  std::string text;
  for (const LinkCounts::Entry& entry : entries)
    fmt::format_to(std::back_inserter(text), "{} {} {:.7g}\n", target(entry.target), source(entry.source),
                   entry.probability);
  return text;
}

Shortlist::Shortlist(const Vocabulary& source, const Vocabulary& target)
    : target_size_(static_cast<std::size_t>(target.size())),
      begins_(static_cast<std::size_t>(source.size()) + 1),
      same_(static_cast<std::size_t>(source.size()), -1) {
  std::unordered_map<std::string, std::int32_t> targets;
  for (std::int32_t id = 0; id < target.size(); ++id) targets.emplace(target.piece(id), id);
  for (std::int32_t id = 0; id < source.size(); ++id)
    if (const auto found = targets.find(source.piece(id)); found != targets.end())
      same_[static_cast<std::size_t>(id)] = found->second;
}

Shortlist::Shortlist(std::vector<LinkCounts::Entry> entries, const Vocabulary& source, const Vocabulary& target,
                     const Limits& limits)
    : Shortlist(source, target) {
  first_ = limits.first, best_ = limits.best;
  // Of a pair that is there twice the larger probability counts.
  std::ranges::sort(entries, [](const LinkCounts::Entry& a, const LinkCounts::Entry& b) {
    return std::tuple(a.source, a.target, -a.probability) < std::tuple(b.source, b.target, -b.probability);
  });
  const auto same_pair = [](const LinkCounts::Entry& a, const LinkCounts::Entry& b) {
    return a.source == b.source && a.target == b.target;
  };
  entries.erase(std::unique(entries.begin(), entries.end(), same_pair), entries.end());
  std::ranges::stable_sort(entries, [](const LinkCounts::Entry& a, const LinkCounts::Entry& b) {
    return a.source != b.source ? a.source < b.source : a.probability > b.probability;
  });
  auto entry = entries.begin();
  for (std::size_t word = 0; word + 1 < begins_.size(); ++word) {
    for (; entry != entries.end() && static_cast<std::size_t>(entry->source) == word; ++entry)
      if (targets_.size() - begins_[word] < limits.best && entry->probability > limits.threshold)
        targets_.push_back(entry->target);
    begins_[word + 1] = targets_.size();
    std::sort(targets_.begin() + static_cast<std::ptrdiff_t>(begins_[word]), targets_.end());
  }
}

std::vector<std::int32_t> Shortlist::allowed(std::span<const std::int32_t> source) const {
  constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> marked((target_size_ + kBits - 1) / kBits);  // a bit for each target word
  const auto mark = [&](std::size_t id) { marked[id / kBits] |= std::uint64_t{1} << id % kBits; };
  const std::size_t always = std::min(std::max(first_, static_cast<std::size_t>(kEnd) + 1), target_size_);
  for (std::size_t id = 0; id < always; ++id) mark(id);
  for (const std::int32_t id : source) {
    const auto word = static_cast<std::size_t>(id);
    if (word >= same_.size()) continue;
    if (same_[word] >= 0) mark(static_cast<std::size_t>(same_[word]));
    for (std::uint64_t at = begins_[word]; at < begins_[word + 1]; ++at) mark(static_cast<std::size_t>(targets_[at]));
  }
  std::vector<std::int32_t> ids;
  for (std::size_t block = 0; block < marked.size(); ++block)
    for (std::uint64_t bits = marked[block]; bits != 0; bits &= bits - 1)
      ids.push_back(static_cast<std::int32_t>(block * kBits) + std::countr_zero(bits));
  return ids;
}

}  // namespace heed
