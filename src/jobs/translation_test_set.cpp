#include "heed/jobs/translation_test_set.h"

#include <chrono>
#include <cmath>

#include "heed/base/error.h"
#include "heed/data/text_file.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"

namespace heed {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines = reader.rest();
  require(!lines.empty(), "{}: it is empty", reader.name());
  return lines;
}

double information(double probability) { return probability > 0 ? -probability * std::log(probability) : 0; }

// Entropy and alignment error of the model on the references.
void measure_alignments(Translator& translator, const TranslationTestSet& test, TranslationQuality& quality) {
  const auto alignments = translator.align(test.sources, test.references);
  AlignmentCounts counts;
  double entropy = 0;
  Index words = 0;
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    if (!alignments[i]) return;  // there is no attention
    const auto rows = static_cast<Index>(alignments[i]->target.size());
    entropy += alignment_entropy(*alignments[i]) * static_cast<double>(rows);
    words += rows;
    if (!test.gold.empty()) counts += compare_alignment(parse_alignment(hard_alignment(*alignments[i])), test.gold[i]);
  }
  quality.entropy = entropy / static_cast<double>(std::max<Index>(words, 1));
  if (!test.gold.empty()) quality.alignment = counts;
}

}  // namespace

TranslationTestSet read_test_set(const std::string& source, const std::string& target, const std::string& gold) {
  TranslationTestSet test{lines_of(source), lines_of(target), {}};
  require(test.sources.size() == test.references.size(), "{}: it has {} lines, but {} has {}", target,
          test.references.size(), source, test.sources.size());
  if (gold.empty()) return test;
  const std::vector<std::string> links = lines_of(gold);
  require(links.size() == test.sources.size(), "{}: it has {} lines, but {} has {}", gold, links.size(), source,
          test.sources.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    try {
      test.gold.push_back(parse_alignment(links[i]));
    } catch (const Error& error) {
      fail("{}, line {}: {}", gold, i + 1, error.what());
    }
  }
  return test;
}

TranslationQuality measure_translation(Translator& translator, const TranslationTestSet& test) {
  TranslationQuality quality;
  const auto began = std::chrono::steady_clock::now();
  for (std::vector<Translation>& best : translator.translate(test.sources))
    quality.translations.push_back(std::move(best.front()));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  quality.sentences_per_second = static_cast<double>(test.sources.size()) / std::max(took.count(), 1e-9);

  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> references;
  for (const Translation& translation : quality.translations) texts.push_back(translation.text);
  for (const std::string& reference : test.references) references.push_back({reference});
  quality.bleu = corpus_bleu(texts, references).score;
  quality.chrf = corpus_chrf(texts, references);

  double log_probability = 0;
  Index words = 0;
  for (const TranslationScore& score : translator.score(test.sources, test.references)) {
    log_probability += score.log_probability;
    words += score.words;
  }
  quality.cross_entropy = -log_probability / static_cast<double>(words);
  measure_alignments(translator, test, quality);
  return quality;
}

double alignment_entropy(const WordAlignment& alignment) {
  const auto rows = static_cast<Index>(alignment.target.size()), columns = static_cast<Index>(alignment.source.size());
  double sum = 0;
  for (Index i = 0; i < rows; ++i) {
    double rest = 1;
    for (Index j = 0; j < columns; ++j) {
      const auto weight = static_cast<double>(alignment.weights.at({i, j}));
      rest -= weight;
      sum += information(weight);
    }
    sum += information(rest);
  }
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

}  // namespace heed
