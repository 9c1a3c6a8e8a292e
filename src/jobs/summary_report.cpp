#include "heed/jobs/summary_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "heed/data/sentences.h"
#include "heed/data/text_file.h"
#include "heed/metrics/copying.h"
#include "heed/metrics/rouge.h"

namespace heed {
namespace {

constexpr std::array kRouge{"rouge1", "rouge2", "rougeL"};

std::vector<std::string> sentences_of(std::string_view text) {
  std::vector<std::string> sentences;
  std::size_t begin = 0;
  for (const std::size_t end : sentence_ends(text)) {
    sentences.push_back(fmt::format("{}", fmt::join(words_of_line(text.substr(begin, end - begin)), " ")));
    begin = end;
  }
  return sentences;
}

Index mean_words(std::span<const Sample> samples) {
  std::size_t words = 0, references = 0;
  for (const Sample& sample : samples)
    for (const std::string& reference : sample.outputs) words += words_of_line(reference).size(), ++references;
  return std::llround(static_cast<double>(words) / static_cast<double>(std::max<std::size_t>(references, 1)));
}

// "41.2/38.5/39.0"
std::string slashed(const std::array<double, 3>& sums, std::size_t count) {
  const auto mean = [count](double sum) { return 100 * sum / static_cast<double>(std::max<std::size_t>(count, 1)); };
  return fmt::format("{:.1f}/{:.1f}/{:.1f}", mean(sums[0]), mean(sums[1]), mean(sums[2]));
}

std::string row(const std::string& name, std::span<const std::string> outputs, std::span<const Sample> samples) {
  std::array<std::array<double, 3>, kRouge.size()> rouges{};  // of each kind: precision, recall, F
  std::array<double, 3> within{};                             // recall of each kind
  CopyCounts copies;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = 0; k < kRouge.size(); ++k) {
      const RougeKind kind = rouge_named(kRouge[k]);
      const RougeScore score = rouge(kind, outputs[i], samples[i].outputs);
      rouges[k][0] += score.precision, rouges[k][1] += score.recall, rouges[k][2] += score.f;
      within[k] += rouge(kind, outputs[i], samples[i].outputs, {.stem = true, .bytes = 75}).recall;
    }
    copies += copy_counts(outputs[i], samples[i].inputs.front().text);
  }
  std::string text = fmt::format("{:<16}", name);
  for (const auto& sums : rouges) text += fmt::format(" {:>17}", slashed(sums, outputs.size()));
  return text + fmt::format(" {:>17} {:>11.1f} {:>8.1f} {:>8.1f}\n", slashed(within, outputs.size()),
                            100 * copies.novelty(1), 100 * copies.novelty(2), 100 * copies.coverage());
}

}  // namespace

std::string first_words(std::string_view text, Index count) {
  std::vector<std::string_view> words = words_of_line(text);
  words.resize(std::min(words.size(), static_cast<std::size_t>(count)));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string first_sentence(std::string_view text) {
  const std::vector<std::string> sentences = sentences_of(text);
  return sentences.empty() ? "" : sentences.front();
}

std::string best_sentence(std::string_view text, std::span<const std::string> references) {
  std::string best;
  double most = -1;
  for (std::string& sentence : sentences_of(text)) {
    const double score =
        rouge(rouge_named("rouge1"), sentence, references).f + rouge(rouge_named("rougeL"), sentence, references).f;
    if (score > most) most = score, best = std::move(sentence);
  }
  return best;
}

std::string summary_report(std::span<const std::string> outputs, std::span<const Sample> samples) {
  const Index count = mean_words(samples);
  std::string text = fmt::format("{:<16} {:>17} {:>17} {:>17} {:>17} {:>11} {:>8} {:>8}\n", "P/R/F in percent",
                                 "ROUGE-1", "ROUGE-2", "ROUGE-L", "75 bytes, R", "new words", "bigrams", "copied");
  text += row("the model", outputs, samples);
  const auto add = [&](const std::string& name, const std::function<std::string(const Sample&)>& summary) {
    std::vector<std::string> texts;
    for (const Sample& sample : samples) texts.push_back(summary(sample));
    text += row(name, texts, samples);
  };
  const auto text_of = [](const Sample& sample) -> const std::string& { return sample.inputs.front().text; };
  add(fmt::format("first {} words", count), [&](const Sample& sample) { return first_words(text_of(sample), count); });
  add("first sentence", [&](const Sample& sample) { return first_sentence(text_of(sample)); });
  add("best sentence", [&](const Sample& sample) { return best_sentence(text_of(sample), sample.outputs); });
  add("the reference", [](const Sample& sample) { return sample.outputs.front(); });
  return text;
}

}  // namespace heed
