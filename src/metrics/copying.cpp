#include "heed/metrics/copying.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/base/utf8.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/tokens.h"

namespace heed {
namespace {

using Words = std::vector<std::string>;

double share(Index part, Index whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void count_fragments(const Words& summary, const Words& text, CopyCounts& counts) {
  std::unordered_map<std::string, std::vector<std::size_t>> places;
  for (std::size_t j = 0; j < text.size(); ++j) places[text[j]].push_back(j);
  for (std::size_t i = 0; i < summary.size();) {
    std::size_t longest = 0;
    if (const auto found = places.find(summary[i]); found != places.end())
      for (const std::size_t j : found->second) {
        std::size_t length = 0;
        while (i + length < summary.size() && j + length < text.size() && summary[i + length] == text[j + length])
          ++length;
        longest = std::max(longest, length);
      }
    const auto fragment = static_cast<Index>(longest);
    counts.copied += fragment;
    counts.squared += fragment * fragment;
    i += std::max<std::size_t>(longest, 1);
  }
}

}  // namespace

CopyCounts& CopyCounts::operator+=(const CopyCounts& other) {
  for (std::size_t n = 0; n < kOrder; ++n) fresh[n] += other.fresh[n], ngrams[n] += other.ngrams[n];
  copied += other.copied, squared += other.squared;
  return *this;
}

double CopyCounts::novelty(std::size_t n) const { return share(fresh[n - 1], ngrams[n - 1]); }
double CopyCounts::coverage() const { return share(copied, ngrams[0]); }
double CopyCounts::density() const { return share(squared, ngrams[0]); }

CopyCounts copy_counts(std::string_view summary, std::string_view text) {
  const Words own = tokenized(lowercased(summary), BleuTokens::v13a),
              given = tokenized(lowercased(text), BleuTokens::v13a);
  CopyCounts counts;
  for (std::size_t n = 1; n <= CopyCounts::kOrder; ++n) {
    const NGrams known = count_ngrams(given, n);
    for (const auto& [ngram, count] : count_ngrams(own, n)) {
      counts.ngrams[n - 1] += count;
      if (!known.contains(ngram)) counts.fresh[n - 1] += count;
    }
  }
  count_fragments(own, given, counts);
  return counts;
}

}  // namespace heed
