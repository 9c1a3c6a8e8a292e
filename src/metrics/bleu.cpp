#include "heed/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/base/utf8.h"
#include "heed/metrics/ngrams.h"

namespace heed {
namespace {

constexpr std::size_t kOrder = BleuCounts::kOrder;

std::vector<std::string> tokens_of(std::string_view sentence, const BleuOptions& options) {
  return options.lowercase ? tokenized(lowercased(sentence), options.tokens) : tokenized(sentence, options.tokens);
}

struct SmoothingName {
  BleuSmoothing smoothing;
  const char* name;
  double value;  // if none is given
};
constexpr std::array kSmoothings = {
    SmoothingName{BleuSmoothing::exp, "exp", 0}, SmoothingName{BleuSmoothing::floor, "floor", .1},
    SmoothingName{BleuSmoothing::add_k, "add-k", 1}, SmoothingName{BleuSmoothing::none, "none", 0}};

const SmoothingName& entry_of(BleuSmoothing smoothing) {
  return *std::ranges::find(kSmoothings, smoothing, &SmoothingName::smoothing);
}
double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(entry_of(options.smoothing).value);
}

}  // namespace

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  for (std::size_t n = 0; n < kOrder; ++n) {
    matches[n] += other.matches[n];
    total[n] += other.total[n];
  }
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  return *this;
}

BleuCounts bleu_counts(std::string_view hypothesis, std::span<const std::string> references,
                       const BleuOptions& options) {
  require(!references.empty(), "[bleu] a sentence has no reference");
  BleuCounts counts;
  const std::vector<std::string> tokens = tokens_of(hypothesis, options);
  const auto length = static_cast<Index>(tokens.size());
  counts.hypothesis_length = length;

  std::array<NGrams, kOrder> known;  // the most of each n-gram in any one reference
  std::optional<Index> nearest;
  for (const std::string& reference : references) {
    const std::vector<std::string> words = tokens_of(reference, options);
    const auto size = static_cast<Index>(words.size());
    const auto distance = [length](Index other) { return std::abs(other - length); };
    if (!nearest || distance(size) < distance(*nearest) || (distance(size) == distance(*nearest) && size < *nearest))
      nearest = size;
    for (std::size_t n = 0; n < kOrder; ++n) keep_most(known[n], count_ngrams(words, n + 1));
  }
  counts.reference_length = *nearest;

  for (std::size_t n = 0; n < kOrder; ++n) {
    const NGrams own = count_ngrams(tokens, n + 1);
    counts.total[n] = total_of(own);
    counts.matches[n] = shared_ngrams(own, known[n]);
  }
  return counts;
}

Bleu bleu(const BleuCounts& counts, const BleuOptions& options) {
  Bleu result;
  result.counts = counts;
  const auto hypothesis = static_cast<double>(counts.hypothesis_length);
  const auto reference = static_cast<double>(counts.reference_length);
  if (hypothesis < reference) result.brevity_penalty = hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0;
  if (std::ranges::all_of(counts.matches, [](Index count) { return count == 0; })) return result;

  const double value = smoothing_value(options);
  double halving = 1;
  std::size_t order = kOrder;
  for (std::size_t n = 0; n < kOrder; ++n) {
    const double added = options.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double matches = static_cast<double>(counts.matches[n]) + added;
    const double total = static_cast<double>(counts.total[n]) + added;
    if (total == 0) break;
    if (options.effective_order) order = n + 1;
    if (matches > 0)
      result.precisions[n] = 100 * matches / total;
    else if (options.smoothing == BleuSmoothing::exp)
      result.precisions[n] = 100 / ((halving *= 2) * total);
    else if (options.smoothing == BleuSmoothing::floor)
      result.precisions[n] = 100 * value / total;
  }
  double sum = 0;
  for (std::size_t n = 0; n < order; ++n) sum += std::log(result.precisions[n]);  // -∞ makes the score 0
  result.score = result.brevity_penalty * std::exp(sum / static_cast<double>(order));
  return result;
}

Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                 const BleuOptions& options) {
  require(hypotheses.size() == references.size(), "[bleu] {} hypotheses for {} references", hypotheses.size(),
          references.size());
  BleuCounts counts;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) counts += bleu_counts(hypotheses[i], references[i], options);
  return bleu(counts, options);
}

std::string bleu_signature(std::size_t references, const BleuOptions& options) {
  std::string smoothing = entry_of(options.smoothing).name;
  if (options.smoothing == BleuSmoothing::floor || options.smoothing == BleuSmoothing::add_k)
    smoothing += fmt::format("[{:.2f}]", smoothing_value(options));
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}", references, options.lowercase ? "lc" : "mixed",
                     options.effective_order ? "yes" : "no", bleu_tokens_name(options.tokens), smoothing);
}

BleuSmoothing bleu_smoothing_named(const std::string& name) {
  std::vector<std::string> known;
  for (const SmoothingName& each : kSmoothings) {
    if (each.name == name) return each.smoothing;
    known.emplace_back(each.name);
  }
  fail("[bleu] there is no smoothing {}{}", name, did_you_mean(name, known));
}

}  // namespace heed
