#include "heed/data/labels.h"

#include <set>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr Index kFewSamples = 20;  // may well have a label each

}  // namespace

std::vector<std::string> learn_labels(const SampleFiles& files, const std::vector<SampleColumn>& columns) {
  std::set<std::string> labels;
  Samples samples(files, columns);
  Samples::Place place;
  std::string first;
  for (Sample sample; samples.next(sample);) {
    if (labels.empty()) {
      place = samples.place();
      first = sample.outputs.front();
    }
    labels.insert(std::move(sample.outputs.front()));
  }
  const Index count = samples.report().kept, different = static_cast<Index>(labels.size());
  require(count > 0, "[train] there is no usable sample: {}", samples.report().text());
  require(different >= 2, "[train] there is no label but {} in {}; at least two labels are needed", *labels.begin(),
          files.files.front());
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const SampleColumn& column : columns) names.push_back(column.name);
  constexpr std::ptrdiff_t kShown = 40;
  require(
      count <= kFewSamples || 2 * different <= count,
      "{}:{}: its labels look like texts: {} samples have {} different ones, the first is \"{}{}\". Its columns were "
      "read as {}; say their order with --columns",
      place.file, place.line, count, different, characters_between(first, 0, kShown),
      count_characters(first) > kShown ? "..." : "", fmt::join(files.columns.empty() ? names : files.columns, ", "));
  return {labels.begin(), labels.end()};
}

}  // namespace heed
