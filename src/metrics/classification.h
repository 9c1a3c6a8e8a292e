#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/real.h"

// How often labels are right: accuracy, precision, recall and F1 of each label, their averages and the report, as
// scikit-learn computes and prints them.
//   precision = right / given,  recall = right / support,  F1 = 2 right / (given + support)

namespace heed {

// Right labels and those that were given instead of them, by number.
struct LabelPairs {
  struct Pair {
    std::size_t right, given;
  };
  std::vector<std::string> labels;  // all that are in a pair, by their code points
  std::vector<Pair> pairs;          // of each sample
};
LabelPairs pair_labels(std::span<const std::string> right, std::span<const std::string> given);

// How often each label is right and each was given: [labels, labels], rows are right, columns were given.
std::vector<Index> confusion_of(const LabelPairs& pairs);

struct LabelCounts {
  Index right = 0, given = 0, support = 0;  // given and right, given, right
  LabelCounts& operator+=(const LabelCounts& other);
};
// Of each label; those of some samples, each as often as it is named.
std::vector<LabelCounts> label_counts(const LabelPairs& pairs);
std::vector<LabelCounts> label_counts(const LabelPairs& pairs, std::span<const std::size_t> samples);

struct LabelScores {
  double precision = 0, recall = 0, f1 = 0;
  Index support = 0;
};
// A ratio without a denominator is `undefined`.
LabelScores label_scores(const LabelCounts& counts, double undefined = 0);
// Of all labels together: their counts are summed.
LabelScores micro_average(std::span<const LabelCounts> counts, double undefined = 0);
// The mean of the labels' scores, or the mean weighted by their support.
LabelScores macro_average(std::span<const LabelCounts> counts, double undefined = 0);
LabelScores weighted_average(std::span<const LabelCounts> counts, double undefined = 0);

struct ClassificationReportOptions {
  std::optional<std::vector<std::string>> labels = {};  // those that are shown, in their order; all if not given
  double undefined = 0;                                 // stands for a ratio without a denominator
  int digits = 2;
};
// The table that scikit-learn's classification_report prints, to the letter.
std::string classification_report(const LabelPairs& pairs, const ClassificationReportOptions& options = {});

}  // namespace heed
