#include "heed/search/extractive.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

using Words = std::span<const std::int32_t>;

bool contains(Words text, Words run) {
  return std::search(text.begin(), text.end(), run.begin(), run.end()) != text.end();
}

// Whether the first of two words stands in the text somewhere behind the second.
bool turned(Words text, std::int32_t first, std::int32_t second) {
  const auto place = std::find(text.begin(), text.end(), second);
  return place != text.end() && std::find(place + 1, text.end(), first) != text.end();
}

}  // namespace

ExtractiveValues extractive_features(Words text, Words words) {
  ExtractiveValues values{};
  if (words.empty() || !contains(text, words.last(1))) return values;
  values[0] = 1;
  if (words.size() > 1) {
    values[1] = contains(text, words.last(2)) ? 1 : 0;
    values[3] = turned(text, words[words.size() - 2], words.back()) ? 1 : 0;
  }
  if (words.size() > 2) values[2] = contains(text, words.last(3)) ? 1 : 0;
  return values;
}

ExtractiveValues summed_extractive_features(Words text, Words words) {
  ExtractiveValues sums{};
  for (std::size_t count = 1; count <= words.size(); ++count) {
    const ExtractiveValues values = extractive_features(text, words.first(count));
    std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), std::plus<>());
  }
  return sums;
}

ExtractiveDecoding::ExtractiveDecoding(std::unique_ptr<Decoding> decoding, std::vector<std::vector<std::int32_t>> texts,
                                       const ExtractiveValues& weights)
    : decoding_(std::move(decoding)), texts_(std::move(texts)), weights_(weights) {
  require(static_cast<Index>(texts_.size()) == decoding_->rows(), "[extractive] {} texts for {} sources", texts_.size(),
          decoding_->rows());
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    rows_.push_back({i});
    std::vector<std::int32_t>& words = words_.emplace_back(texts_[i]);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::erase_if(words, [](std::int32_t word) { return word == kUnknown || word == kBegin || word == kEnd; });
  }
}

Decoding::Step ExtractiveDecoding::step(const Ids& previous) {
  Step step = decoding_->step(previous);
  step.words = step.log_probabilities().copy();
  step.normalised = true;  // nothing is to be scaled again
  const Index vocabulary = step.words.size(1);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::vector<std::int32_t>& last = rows_[i].words;
    if (begun_) last.push_back(previous.data()[i]);
    if (last.size() > 2) last.erase(last.begin());
    std::vector<std::int32_t> run = last;
    run.push_back(0);
    Real* const scores = step.words.data() + static_cast<Index>(i) * vocabulary;
    for (const std::int32_t word : words_[rows_[i].source]) {
      run.back() = word;
      const ExtractiveValues values = extractive_features(texts_[rows_[i].source], run);
      scores[word] += static_cast<Real>(std::inner_product(values.begin(), values.end(), weights_.begin(), 0.0));
    }
  }
  begun_ = true;
  return step;
}

void ExtractiveDecoding::select(const Ids& rows) {
  decoding_->select(rows);
  std::vector<Row> chosen;
  for (const std::int32_t row : rows.contiguous().values()) chosen.push_back(rows_[static_cast<std::size_t>(row)]);
  rows_ = std::move(chosen);
}

}  // namespace heed
