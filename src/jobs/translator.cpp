#include "heed/jobs/translator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/threads.h"
#include "heed/base/utf8.h"

namespace heed {

Translator::Bundles Translator::load_all(const std::vector<std::filesystem::path>& folders) {
  require(!folders.empty(), "[translate] there is no model");
  Bundles bundles;
  for (const std::filesystem::path& folder : folders) {
    bundles.push_back(
        std::make_shared<const TranslationBundle>(load_translation(ModelFolder(folder), FolderWeights::trained)));
    for (const bool source : {true, false}) {
      const auto bytes = [source](const TranslationBundle& b) { return (source ? b.source : b.target)->serialized(); };
      require(bytes(*bundles.back()) == bytes(*bundles.front()),
              "{}: its {} vocabulary is not that of {}; models that decide together share them", folder.string(),
              source ? "source" : "target", folders.front().string());
    }
  }
  return bundles;
}

Translator::Translator(const std::vector<std::filesystem::path>& folders, TranslatorOptions options, Warn warn)
    : Translator(load_all(folders), std::move(options), std::move(warn)) {}

Translator::Translator(std::shared_ptr<const TranslationBundle> bundle, TranslatorOptions options, Warn warn)
    : Translator(Bundles{std::move(bundle)}, std::move(options), std::move(warn)) {}

Translator::Translator(Bundles bundles, TranslatorOptions options, Warn warn)
    : options_(std::move(options)),
      warn_(std::move(warn)),
      bundles_(std::move(bundles)),
      threads_(options_.threads > 0 ? options_.threads : thread_count()) {
  for (const auto& bundle : bundles_) models_.push_back(bundle->model.get());
}

std::vector<std::int32_t> Translator::encoded(const Vocabulary& vocabulary, const std::string& line,
                                              Index number) const {
  if (!valid_utf8(line)) {
    warn_(fmt::format("line {} is not valid UTF-8 and counts as empty", number));
    return {};
  }
  std::vector<std::int32_t> ids = vocabulary.encode(line);
  if (const Index longest = options_.longest_sentence; static_cast<Index>(ids.size()) > longest) {
    warn_(fmt::format("line {} has {} pieces and is cut to {}", number, ids.size(), longest));
    ids.resize(static_cast<std::size_t>(longest));
  }
  return ids;
}

Translation Translator::made_of(const Hypothesis& hypothesis, std::span<const std::int32_t> source) const {
  const TranslationBundle& bundle = *bundles_.front();
  Translation translation;
  translation.text = bundle.target->decode(hypothesis.words);
  translation.log_probability = hypothesis.log_probability;
  translation.score = hypothesis.score;
  translation.finished = hypothesis.finished;
  if (hypothesis.weights)
    translation.alignment = align_words(*bundle.source, source, *bundle.target, hypothesis.words, hypothesis.weights);
  return translation;
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> lines,
                                                            std::span<const std::string> prefixes) {
  require(prefixes.empty() || prefixes.size() == lines.size(), "[translate] {} prefixes for {} lines", prefixes.size(),
          lines.size());
  BatchedSearch search = options_.search;
  search.options.prefixes.clear();
  search.options.sentences.clear();
  std::vector<std::vector<std::int32_t>> sources;
  std::vector<std::size_t> places;  // of the lines that have words
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Index number = lines_ + static_cast<Index>(i);
    std::vector<std::int32_t> ids = encoded(*bundles_.front()->source, lines[i], number + 1);
    if (ids.empty()) continue;
    sources.push_back(std::move(ids));
    places.push_back(i);
    search.options.sentences.push_back(static_cast<std::uint64_t>(number));
    if (!prefixes.empty())
      search.options.prefixes.push_back(encoded(*bundles_.front()->target, prefixes[i], number + 1));
  }
  lines_ += static_cast<Index>(lines.size());
  std::vector<std::vector<Translation>> results(lines.size(), std::vector<Translation>(1));
  const Hypotheses found = search_batches(models_, sources, search, threads_);
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<Translation>& translations = results[places[i]];
    translations.clear();
    for (const Hypothesis& hypothesis : found[i]) translations.push_back(made_of(hypothesis, sources[i]));
  }
  return results;
}

Translator::Given Translator::given(std::span<const std::string> source_lines,
                                    std::span<const std::string> target_lines) {
  require(source_lines.size() == target_lines.size(), "[score] {} targets for {} sources", target_lines.size(),
          source_lines.size());
  Given result;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < source_lines.size(); ++i) {
    const Index number = ++lines_;
    result.sources.push_back(encoded(*bundles_.front()->source, source_lines[i], number));
    result.targets.push_back(encoded(*bundles_.front()->target, target_lines[i], number));
    lengths.push_back(std::max(result.sources.back().size(), result.targets.back().size()) + 1);
  }
  result.batches = batches_by_length(lengths, options_.search.batch_sentences, options_.search.batch_words);
  return result;
}

std::vector<TranslationScore> Translator::score(std::span<const std::string> source_lines,
                                                std::span<const std::string> target_lines) {
  const Given lines = given(source_lines, target_lines);
  std::vector<TranslationScore> scores(lines.sources.size());
  for_each_batch(threads_, lines.batches.size(), [&](std::size_t number) {
    const NoGradient off;
    const std::vector<std::size_t>& chosen = lines.batches[number];
    const Source source = with_end(lines.sources, chosen);
    const ForcedTargets target = forced_targets(lines.targets, chosen);
    // The logarithm of the mean of the models' probabilities of every expected word.
    std::vector<double> logs(static_cast<std::size_t>(target.expected.words.size()));
    const double share = std::log(static_cast<double>(models_.size()));
    for (std::size_t k = 0; k < models_.size(); ++k) {
      const Tensor words =
          log_probabilities_of(models_[k]->forward(source, target.previous).words.logits().value()).contiguous();
      const Index vocabulary = words.size(-1);
      for (std::size_t i = 0; i < logs.size(); ++i) {
        const Index at = static_cast<Index>(i) * vocabulary + target.expected.words.data()[i];
        const double word = static_cast<double>(words.data()[at]) - share;
        logs[i] = k == 0 ? word : std::max(logs[i], word) + std::log1p(std::exp(-std::abs(logs[i] - word)));
      }
    }
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      TranslationScore& score = scores[chosen[row]];
      score.words = target.expected.lengths.data()[row];
      const double* first = logs.data() + static_cast<Index>(row) * target.expected.longest();
      score.log_probability = std::accumulate(first, first + score.words, 0.0);
    }
  });
  return scores;
}

std::vector<std::optional<WordAlignment>> Translator::align(std::span<const std::string> source_lines,
                                                            std::span<const std::string> target_lines) {
  const Given lines = given(source_lines, target_lines);
  const TranslationBundle& bundle = *bundles_.front();
  std::vector<std::optional<WordAlignment>> alignments(lines.sources.size());
  for_each_batch(threads_, lines.batches.size(), [&](std::size_t number) {
    const NoGradient off;
    const std::vector<std::size_t>& chosen = lines.batches[number];
    const ForwardOptions options{.alignment = true};
    const Var read =
        bundle.model->forward(with_end(lines.sources, chosen), forced_targets(lines.targets, chosen).previous, options)
            .alignment;  // [batch, n, m]
    if (!read) return;
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      const std::vector<std::int32_t>&source = lines.sources[chosen[row]], &target = lines.targets[chosen[row]];
      const Index first = static_cast<Index>(row), n = static_cast<Index>(target.size()) + 1,
                  m = static_cast<Index>(source.size()) + 1;
      const Tensor weights =
          read.value().slice(0, first, first + 1).slice(1, 0, n).slice(2, 0, m).contiguous().reshape(Shape{n, m});
      alignments[chosen[row]] = align_words(*bundle.source, source, *bundle.target, target, weights);
    }
  });
  return alignments;
}

}  // namespace heed
