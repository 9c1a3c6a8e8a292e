#include "heed/base/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace heed {

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string did_you_mean(const std::string& word, std::span<const std::string> known) {
  if (known.empty()) return "; there are none";
  const auto nearer = [&word](const std::string& a, const std::string& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  };
  const auto nearest = std::min_element(known.begin(), known.end(), nearer);
  if (edit_distance(word, *nearest) <= static_cast<int>(1 + word.size() / 3))
    return fmt::format("; did you mean {}?", *nearest);
  constexpr std::size_t kMostListed = 30, kNearest = 3;
  if (known.size() <= kMostListed) return fmt::format("; there are: {}", fmt::join(known, ", "));
  std::vector<std::string> sorted(known.begin(), known.end());
  std::stable_sort(sorted.begin(), sorted.end(), nearer);
  sorted.resize(kNearest);
  return fmt::format("; the nearest are: {}", fmt::join(sorted, ", "));
}

}  // namespace heed
