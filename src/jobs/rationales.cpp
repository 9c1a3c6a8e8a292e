#include "heed/jobs/rationales.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/data/text_file.h"
#include "heed/explain/gold_share.h"

namespace heed {
namespace {

constexpr std::array kBins{0.01, 0.05, 0.1, 0.2, 0.5};

Index count_of(double share, std::size_t words) {
  return static_cast<Index>(std::ceil(share * static_cast<double>(words) - 1e-9));
}

// The mean share of a document's words that people name.
double share_of(std::span<const EraserAnnotation> annotations, std::span<const std::vector<double>> weights,
                std::size_t text) {
  double sum = 0;
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    std::vector<bool> named(weights[i].size(), false);
    for (const auto& group : annotations[i].evidences)
      for (const EraserEvidence& evidence : group)
        if (evidence.docid == eraser_docid(annotations[i], text))
          for (Index j = std::max<Index>(evidence.start_token, 0); j < evidence.end_token; ++j)
            if (j < static_cast<Index>(named.size())) named[static_cast<std::size_t>(j)] = true;
    sum += static_cast<double>(std::count(named.begin(), named.end(), true)) /
           static_cast<double>(std::max<std::size_t>(named.size(), 1));
  }
  return sum / static_cast<double>(std::max<std::size_t>(annotations.size(), 1));
}

// The sample with the words inside the spans of one of its texts, or with all others.
enum class Part { inside, outside };
Sample part_of(Sample sample, std::size_t text, std::span<const TokenSpan> spans, Part part) {
  const std::string whole = std::move(sample.inputs[text].text);
  std::string& left = sample.inputs[text].text;
  left.clear();
  Index number = 0;
  for (const std::string_view word : words_of_line(whole)) {
    const bool inside =
        std::any_of(spans.begin(), spans.end(), [number](auto s) { return s.begin <= number && number < s.end; });
    if (inside == (part == Part::inside)) left += (left.empty() ? "" : " ") + std::string(word);
    ++number;
  }
  return sample;
}

// Of every label, in the model's order. A text of which nothing is left says nothing.
std::vector<ClassScores> class_scores(Runner& runner, std::span<const Sample> samples) {
  const std::vector<std::string>& labels = runner.bundle().codes.labels;
  RunOptions options;
  options.search.options.best = static_cast<Index>(labels.size());
  std::vector<ClassScores> all;
  for (const std::vector<Result>& results : runner.run(samples, options)) {
    ClassScores& scores = all.emplace_back();
    for (const std::string& label : labels) {
      const auto found = std::find_if(results.begin(), results.end(), [&](const Result& r) { return r.text == label; });
      scores.emplace_back(label, found == results.end() ? 1.0 / static_cast<double>(labels.size()) : found->score);
    }
  }
  return all;
}

double score_of(const ClassScores& scores, const std::string& label) {
  return std::find_if(scores.begin(), scores.end(), [&](const auto& score) { return score.first == label; })->second;
}

// Fills in what the model says of each sample with the words of most weight alone, and without them.
void erase(Runner& runner, std::span<const Sample> samples, std::size_t text,
           std::span<const std::vector<double>> weights, Rationales& rationales) {
  const auto parts = [&](Part part, const auto& spans_of) {
    std::vector<Sample> left;
    for (std::size_t i = 0; i < samples.size(); ++i) left.push_back(part_of(samples[i], text, spans_of(i), part));
    return class_scores(runner, left);
  };
  const auto hard = [&](std::size_t i) { return rationales.predictions[i].rationales.front().hard; };
  std::vector<ClassScores> without = parts(Part::outside, hard), only = parts(Part::inside, hard);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    rationales.predictions[i].without_rationale = std::move(without[i]);
    rationales.predictions[i].only_rationale = std::move(only[i]);
  }
  for (const double bin : kBins) {
    const auto heaviest = [&](std::size_t i) {
      return spans_of_heaviest(weights[i], count_of(bin, weights[i].size()));
    };
    without = parts(Part::outside, heaviest);
    only = parts(Part::inside, heaviest);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EraserPrediction& prediction = rationales.predictions[i];
      const double all = score_of(prediction.scores, prediction.classification);
      rationales.comprehensiveness += all - score_of(without[i], prediction.classification);
      rationales.sufficiency += all - score_of(only[i], prediction.classification);
      prediction.thresholds.push_back({bin, std::move(without[i]), std::move(only[i])});
    }
  }
  const auto measured = static_cast<double>(samples.size() * kBins.size());
  rationales.comprehensiveness /= measured;
  rationales.sufficiency /= measured;
}

}  // namespace

Rationales find_rationales(Runner& runner, std::span<const EraserAnnotation> annotations,
                           std::span<const Sample> samples) {
  const Chooser* chooser = runner.bundle().chooser;
  require(chooser && !runner.attentions().empty(), "[rationales] {} gives no label that it looks at a text for",
          runner.name());
  const auto text = static_cast<std::size_t>(chooser->alignment_axes().second);
  std::vector<Sample> alone;
  for (const Sample& sample : samples) alone.push_back(without_outputs(sample));
  std::vector<std::vector<double>> weights;
  for (const Trace& trace : runner.explain(alone)) weights.push_back(weights_of_words(trace));
  const std::vector<ClassScores> scores = class_scores(runner, alone);

  Rationales result;
  result.share = share_of(annotations, weights, text);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto best = std::max_element(scores[i].begin(), scores[i].end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    result.predictions.push_back(
        {.annotation_id = annotations[i].annotation_id,
         .rationales = {{.docid = eraser_docid(annotations[i], text),
                         .hard = spans_of_heaviest(weights[i], count_of(result.share, weights[i].size())),
                         .soft = weights[i]}},
         .classification = best->first,
         .scores = scores[i]});
  }
  erase(runner, alone, text, weights, result);
  result.spans = span_agreement(annotations, result.predictions);
  result.tokens = token_agreement(annotations, result.predictions);
  result.area = mean_area_under_precision_recall(annotations, result.predictions);
  return result;
}

std::string Rationales::text() const {
  std::string text =
      fmt::format("Rationales beside those of people, {:.1f} % of the words of a document:\n{:<20}", 100 * share, "");
  for (const char* title : {"precision", "recall", "F1", "macro F1"}) text += fmt::format(" {:>9}", title);
  const auto row = [&text](const char* title, const RationaleAgreement& agreement) {
    text += fmt::format("\n{:<20} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}", title, agreement.micro.precision,
                        agreement.micro.recall, agreement.micro.f1, agreement.macro.f1);
  };
  row("spans (half shared)", spans);
  row("words", tokens);
  return text + fmt::format(
                    "\narea under precision over recall {:.3f}\n"
                    "comprehensiveness {:.3f}, sufficiency {:.3f} (1, 5, 10, 20 and 50 % of the words)\n",
                    area, comprehensiveness, sufficiency);
}

}  // namespace heed
