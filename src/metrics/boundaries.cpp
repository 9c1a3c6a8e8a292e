#include "heed/metrics/boundaries.h"

#include <cmath>

#include "heed/metrics/error_rate.h"

namespace heed {
namespace {

std::vector<std::string> written_words(std::span<const TimedWord> timed) {
  std::vector<std::string> words;
  for (const TimedWord& word : timed) words.push_back(word.word);
  return words;
}

// A millionth of a second is no difference between times that were written and read.
bool is_near(double distance, double tolerance) { return distance <= tolerance + 1e-6; }

}  // namespace

BoundaryCounts& BoundaryCounts::operator+=(const BoundaryCounts& other) {
  gold += other.gold;
  matched += other.matched;
  for (std::size_t i = 0; i < within.size(); ++i) within[i] += other.within[i];
  distance += other.distance;
  return *this;
}

double BoundaryCounts::share(std::size_t tolerance) const {
  return gold == 0 ? 0 : static_cast<double>(within[tolerance]) / static_cast<double>(gold);
}

double BoundaryCounts::mean_distance() const { return matched == 0 ? 0 : distance / static_cast<double>(matched); }

BoundaryCounts count_boundaries(std::span<const TimedWord> gold, std::span<const TimedWord> found) {
  BoundaryCounts counts;
  counts.gold = 2 * static_cast<Index>(gold.size());
  std::size_t of_gold = 0, of_found = 0;
  for (const AlignedPair& pair : align_errors(written_words(gold), written_words(found))) {
    if (!pair.reference.empty() && pair.reference == pair.hypothesis) {
      const TimedWord &right = gold[of_gold], &guess = found[of_found];
      for (const double distance : {std::abs(right.begin - guess.begin), std::abs(right.end - guess.end)}) {
        ++counts.matched;
        counts.distance += distance;
        for (std::size_t i = 0; i < counts.within.size(); ++i)
          if (is_near(distance, BoundaryCounts::kTolerances[i])) ++counts.within[i];
      }
    }
    of_gold += pair.reference.empty() ? 0 : 1;
    of_found += pair.hypothesis.empty() ? 0 : 1;
  }
  return counts;
}

}  // namespace heed
