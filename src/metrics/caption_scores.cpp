#include "heed/metrics/caption_scores.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/metrics/subsequence.h"
#include "heed/metrics/ngrams.h"

namespace heed {
namespace {

constexpr std::size_t kLongestNGram = BleuCounts::kOrder;
constexpr BleuOptions kWords{.tokens = BleuTokens::none};

using Words = std::vector<std::string>;

Words words_of(const std::string& caption) { return tokenized(caption, BleuTokens::none); }

// Of each order.
using CountsByOrder = std::array<NGrams, kLongestNGram>;

CountsByOrder counts_of(const std::string& caption) {
  const Words words = words_of(caption);
  CountsByOrder counts;
  for (std::size_t n = 0; n < kLongestNGram; ++n) counts[n] = count_ngrams(words, n + 1);
  return counts;
}

// The weights of a caption's n-grams.
struct Weighted {
  std::array<std::unordered_map<std::string, double>, kLongestNGram> weights;
  std::array<double, kLongestNGram> norms = {};
  Index pairs = 0;  // of words: the length that CIDEr-D compares

  Weighted(const std::string& caption, const NGramFrequencies& frequencies) {
    const CountsByOrder counts = counts_of(caption);
    for (std::size_t n = 0; n < kLongestNGram; ++n) {
      for (const auto& [ngram, count] : counts[n]) {
        const double weight = frequencies.weight(ngram, count);
        weights[n][ngram] = weight;
        norms[n] += weight * weight;
      }
      norms[n] = std::sqrt(norms[n]);
    }
    pairs = total_of(counts[1]);
  }
};

// Σ over the orders.
double similarity(const Weighted& caption, const Weighted& reference, Cider kind) {
  const auto apart = static_cast<double>(caption.pairs - reference.pairs);
  const double penalty = kind == Cider::d ? std::exp(-apart * apart / (2 * 6.0 * 6.0)) : 1;
  double sum = 0;
  for (std::size_t n = 0; n < kLongestNGram; ++n) {
    double product = 0;
    for (const auto& [ngram, weight] : caption.weights[n]) {
      const auto place = reference.weights[n].find(ngram);
      if (place == reference.weights[n].end()) continue;
      product += (kind == Cider::d ? std::min(weight, place->second) : weight) * place->second;
    }
    const double norms = caption.norms[n] * reference.norms[n];
    sum += penalty * (norms == 0 ? product : product / norms);
  }
  return sum;
}

}  // namespace

BleuCounts caption_bleu_counts(const CaptionCase& image) {
  return bleu_counts(image.caption, image.references, kWords);
}

CaptionBleu caption_bleu(const BleuCounts& counts) {
  constexpr double kTiny = 1e-15, kSmall = 1e-9;
  const double ratio =
      (static_cast<double>(counts.hypothesis_length) + kTiny) / (static_cast<double>(counts.reference_length) + kSmall);
  const double brevity = ratio < 1 ? std::exp(1 - 1 / ratio) : 1;
  CaptionBleu scores;
  double product = 1;
  for (std::size_t n = 0; n < kLongestNGram; ++n) {
    product *= (static_cast<double>(counts.matches[n]) + kTiny) / (static_cast<double>(counts.total[n]) + kSmall);
    scores[n] = std::pow(product, 1 / static_cast<double>(n + 1)) * brevity;
  }
  return scores;
}

double caption_rouge_l(const CaptionCase& image) {
  require(!image.references.empty(), "[captions] a caption has no reference");
  constexpr double kBeta = 1.2;
  const Words words = words_of(image.caption);
  double precision = 0, recall = 0;
  for (const std::string& reference : image.references) {
    const Words right = words_of(reference);
    const auto common = static_cast<double>(CommonSequences(right, words).longest());
    if (common == 0) continue;
    precision = std::max(precision, common / static_cast<double>(words.size()));
    recall = std::max(recall, common / static_cast<double>(right.size()));
  }
  if (precision == 0) return 0;
  return (1 + kBeta * kBeta) * precision * recall / (recall + kBeta * kBeta * precision);
}

void NGramFrequencies::add(std::span<const std::string> references) {
  NGrams seen;
  for (const std::string& reference : references)
    for (const NGrams& order : counts_of(reference)) keep_most(seen, order);
  for (const auto& [ngram, count] : seen) ++with_[ngram];
  ++images_;
}

double NGramFrequencies::weight(const std::string& ngram, Index count) const {
  const auto place = with_.find(ngram);
  const double images = place == with_.end() ? 1 : static_cast<double>(place->second);
  return static_cast<double>(count) * (std::log(static_cast<double>(images_)) - std::log(images));
}

double cider(const CaptionCase& image, const NGramFrequencies& frequencies, Cider kind) {
  require(!image.references.empty(), "[captions] a caption has no reference");
  const Weighted caption(image.caption, frequencies);
  double sum = 0;
  for (const std::string& reference : image.references)
    sum += similarity(caption, Weighted(reference, frequencies), kind);
  return 10 * sum / static_cast<double>(kLongestNGram) / static_cast<double>(image.references.size());
}

std::vector<double> cider(std::span<const CaptionCase> images, Cider kind) {
  NGramFrequencies frequencies;
  for (const CaptionCase& image : images) frequencies.add(image.references);
  std::vector<double> scores;
  for (const CaptionCase& image : images) scores.push_back(cider(image, frequencies, kind));
  return scores;
}

}  // namespace heed
