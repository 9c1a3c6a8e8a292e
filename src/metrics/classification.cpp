#include "heed/metrics/classification.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

double ratio(double part, double whole, double undefined) { return whole == 0 ? undefined : part / whole; }

// The mean of the labels' scores, each with its own weight.
template <class Weight>
LabelScores average(std::span<const LabelCounts> counts, double undefined, Weight weight) {
  LabelScores mean;
  double weights = 0;
  for (const LabelCounts& each : counts) {
    const LabelScores scores = label_scores(each, undefined);
    const double own = weight(each);
    mean.precision += own * scores.precision, mean.recall += own * scores.recall, mean.f1 += own * scores.f1;
    mean.support += each.support;
    weights += own;
  }
  mean.precision = ratio(mean.precision, weights, undefined);
  mean.recall = ratio(mean.recall, weights, undefined);
  mean.f1 = ratio(mean.f1, weights, undefined);
  return mean;
}

// One row after another, with as wide a first column as the names need: widths are counted in characters, whatever
// their width on a screen is.
class Table {
 public:
  Table(std::size_t width, int digits) : width_(width), digits_(digits) {}

  void head() {
    text_ += name("");
    for (const char* title : {"precision", "recall", "f1-score", "support"}) text_ += fmt::format(" {:>9}", title);
    text_ += "\n\n";
  }
  void row(const std::string& label, const LabelScores& scores) {
    text_ += name(label) + number(scores.precision) + number(scores.recall) + number(scores.f1) + end(scores.support);
  }
  // With its F1 alone, which is the accuracy.
  void accuracy(const LabelScores& scores) {
    text_ += name("accuracy") + std::string(20, ' ') + number(scores.f1) + end(scores.support);
  }
  void gap() { text_ += "\n"; }
  std::string text() && { return std::move(text_); }

 private:
  std::string name(const std::string& label) const {
    const std::size_t length = count_characters(label);
    return std::string(width_ - std::min(width_, length), ' ') + label + " ";
  }
  std::string number(double value) const { return fmt::format(" {:>9.{}f}", value, digits_); }
  static std::string end(Index support) { return fmt::format(" {:>9}\n", support); }

  std::size_t width_;
  int digits_;
  std::string text_;
};

}  // namespace

LabelPairs pair_labels(std::span<const std::string> right, std::span<const std::string> given) {
  require(right.size() == given.size(), "[classification] {} labels were given for {}", given.size(), right.size());
  LabelPairs result;
  std::vector<std::string>& labels = result.labels;
  labels.assign(right.begin(), right.end());
  labels.insert(labels.end(), given.begin(), given.end());
  std::ranges::sort(labels);  // bytes of UTF-8 are in the order of their code points
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const auto number = [&labels](const std::string& label) {
    return static_cast<std::size_t>(std::ranges::lower_bound(labels, label) - labels.begin());
  };
  for (std::size_t i = 0; i < right.size(); ++i) result.pairs.push_back({number(right[i]), number(given[i])});
  return result;
}

std::vector<Index> confusion_of(const LabelPairs& pairs) {
  const std::size_t labels = pairs.labels.size();
  std::vector<Index> counts(labels * labels);
  for (const auto& [right, given] : pairs.pairs) ++counts[right * labels + given];
  return counts;
}

LabelCounts& LabelCounts::operator+=(const LabelCounts& other) {
  right += other.right, given += other.given, support += other.support;
  return *this;
}

std::vector<LabelCounts> label_counts(const LabelPairs& pairs) {
  std::vector<std::size_t> all(pairs.pairs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return label_counts(pairs, all);
}

std::vector<LabelCounts> label_counts(const LabelPairs& pairs, std::span<const std::size_t> samples) {
  std::vector<LabelCounts> counts(pairs.labels.size());
  for (const std::size_t sample : samples) {
    const auto& [right, given] = pairs.pairs[sample];
    ++counts[right].support;
    ++counts[given].given;
    if (right == given) ++counts[right].right;
  }
  return counts;
}

LabelScores label_scores(const LabelCounts& counts, double undefined) {
  const auto right = static_cast<double>(counts.right), given = static_cast<double>(counts.given),
             support = static_cast<double>(counts.support);
  return {ratio(right, given, undefined), ratio(right, support, undefined),
          ratio(2 * right, given + support, undefined), counts.support};
}

LabelScores micro_average(std::span<const LabelCounts> counts, double undefined) {
  LabelCounts sum;
  for (const LabelCounts& each : counts) sum += each;
  return label_scores(sum, undefined);
}

LabelScores macro_average(std::span<const LabelCounts> counts, double undefined) {
  return average(counts, undefined, [](const LabelCounts&) { return 1.0; });
}

LabelScores weighted_average(std::span<const LabelCounts> counts, double undefined) {
  // Where no label has support, all weigh the same, as in scikit-learn.
  if (std::ranges::all_of(counts, [](const LabelCounts& each) { return each.support == 0; }))
    return macro_average(counts, undefined);
  return average(counts, undefined, [](const LabelCounts& each) { return static_cast<double>(each.support); });
}

std::string classification_report(const LabelPairs& pairs, const ClassificationReportOptions& options) {
  const std::vector<std::string>& shown = options.labels ? *options.labels : pairs.labels;
  const std::vector<LabelCounts> all = label_counts(pairs);
  std::vector<LabelCounts> counts;
  for (const std::string& label : shown) {
    const auto place = std::ranges::lower_bound(pairs.labels, label);
    const bool seen = place != pairs.labels.end() && *place == label;
    counts.push_back(seen ? all[static_cast<std::size_t>(place - pairs.labels.begin())] : LabelCounts{});
  }
  const bool shows_all = std::ranges::all_of(
      pairs.labels, [&shown](const std::string& label) { return std::ranges::find(shown, label) != shown.end(); });

  std::size_t width = std::string_view("weighted avg").size();
  for (const std::string& label : shown) width = std::max(width, count_characters(label));
  Table table(std::max(width, static_cast<std::size_t>(options.digits)), options.digits);
  table.head();
  for (std::size_t i = 0; i < shown.size(); ++i) table.row(shown[i], label_scores(counts[i], options.undefined));
  table.gap();
  if (const LabelScores micro = micro_average(counts, options.undefined); shows_all)
    table.accuracy(micro);
  else
    table.row("micro avg", micro);
  table.row("macro avg", macro_average(counts, options.undefined));
  table.row("weighted avg", weighted_average(counts, options.undefined));
  return std::move(table).text();
}

}  // namespace heed
