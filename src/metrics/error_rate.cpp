#include "heed/metrics/error_rate.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/metrics/tokens.h"

namespace heed {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kFolded = {
    {{"ao", "aa"},   {"ax", "ah"},   {"ax-h", "ah"}, {"axr", "er"},  {"el", "l"},    {"em", "m"},
     {"en", "n"},    {"nx", "n"},    {"eng", "ng"},  {"hv", "hh"},   {"ix", "ih"},   {"ux", "uw"},
     {"zh", "sh"},   {"bcl", "sil"}, {"dcl", "sil"}, {"gcl", "sil"}, {"pcl", "sil"}, {"tcl", "sil"},
     {"kcl", "sil"}, {"h#", "sil"},  {"pau", "sil"}, {"epi", "sil"}}};

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string padded(const std::string& text, Index width) {
  return text + std::string(static_cast<std::size_t>(std::max<Index>(width - display_width(text), 0)), ' ');
}

}  // namespace

ErrorCounts& ErrorCounts::operator+=(const ErrorCounts& other) {
  hits += other.hits, substitutions += other.substitutions;
  deletions += other.deletions, insertions += other.insertions;
  return *this;
}

double ErrorCounts::rate() const {
  return static_cast<double>(errors()) / static_cast<double>(std::max<Index>(reference(), 1));
}

std::vector<std::string> error_units(std::string_view text, ErrorUnit unit) {
  const std::vector<std::string_view> words = split_words(text);
  if (unit == ErrorUnit::words) return {words.begin(), words.end()};
  std::vector<std::string> characters;
  if (words.empty()) return characters;
  const char *const begin = words.front().data(), *const end = words.back().data() + words.back().size();
  for (const Character& character : Characters(std::string_view(begin, static_cast<std::size_t>(end - begin))))
    characters.emplace_back(character.bytes);
  return characters;
}

std::vector<AlignedPair> align_errors(std::span<const std::string> reference, std::span<const std::string> hypothesis) {
  const std::size_t n = reference.size(), m = hypothesis.size(), width = m + 1;
  std::vector<std::int32_t> cost((n + 1) * width);  // of the beginnings
  const auto at = [&](std::size_t i, std::size_t j) -> std::int32_t& { return cost[i * width + j]; };
  const auto replaced = [&](std::size_t i, std::size_t j) {
    return at(i - 1, j - 1) + (reference[i - 1] == hypothesis[j - 1] ? 0 : 1);
  };
  for (std::size_t i = 1; i <= n; ++i) at(i, 0) = at(i - 1, 0) + 1;
  for (std::size_t j = 1; j <= m; ++j) at(0, j) = at(0, j - 1) + 1;
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= m; ++j) at(i, j) = std::min({replaced(i, j), at(i - 1, j) + 1, at(i, j - 1) + 1});

  std::vector<AlignedPair> pairs;
  for (std::size_t i = n, j = m; i > 0 || j > 0;) {
    AlignedPair& pair = pairs.emplace_back();
    const bool both = i > 0 && j > 0 && at(i, j) == replaced(i, j);
    const bool left_out = !both && i > 0 && at(i, j) == at(i - 1, j) + 1;
    if (both || left_out) pair.reference = reference[--i];
    if (!left_out) pair.hypothesis = hypothesis[--j];
  }
  std::ranges::reverse(pairs);
  return pairs;
}

ErrorCounts error_counts(std::span<const AlignedPair> alignment) {
  ErrorCounts counts;
  for (const auto& [reference, hypothesis] : alignment) {
    if (reference.empty())
      ++counts.insertions;
    else if (hypothesis.empty())
      ++counts.deletions;
    else
      ++(reference == hypothesis ? counts.hits : counts.substitutions);
  }
  return counts;
}

ErrorCounts error_counts(std::string_view reference, std::string_view hypothesis, ErrorUnit unit) {
  return error_counts(align_errors(error_units(reference, unit), error_units(hypothesis, unit)));
}

std::string written_alignment(std::span<const AlignedPair> alignment) {
  const ErrorCounts counts = error_counts(alignment);
  std::string first = "REF: ", second = "HYP: ", below = "Eval:";
  for (const auto& [reference, hypothesis] : alignment) {
    const bool right = reference == hypothesis;
    const Index width = std::max(display_width(reference), display_width(hypothesis));
    const auto shown = [&](const std::string& unit) {
      return unit.empty() ? std::string(static_cast<std::size_t>(width), '*')
                          : padded(right ? unit : upper(unit), width);
    };
    first += " " + shown(reference);
    second += " " + shown(hypothesis);
    below += " " + padded(right ? "" : reference.empty() ? "I" : hypothesis.empty() ? "D" : "S", width);
  }
  const auto line = [](std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  return fmt::format("Scores: (#C #S #D #I) {} {} {} {}\n", counts.hits, counts.substitutions, counts.deletions,
                     counts.insertions) +
         line(first) + line(second) + line(below);
}

std::vector<std::string> folded_phones(std::span<const std::string> phones) {
  std::vector<std::string> folded;
  for (const std::string& phone : phones) {
    if (phone == "q") continue;
    const auto known = std::ranges::find(kFolded, std::string_view(phone), &decltype(kFolded)::value_type::first);
    folded.emplace_back(known == kFolded.end() ? phone : std::string(known->second));
  }
  return folded;
}

}  // namespace heed
