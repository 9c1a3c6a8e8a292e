#include "heed/metrics/text_metrics.h"

#include <optional>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/metrics/caption_scores.h"
#include "heed/metrics/caption_words.h"
#include "heed/metrics/error_rate.h"

namespace heed {
namespace {

using Texts = std::span<const std::string>;
using References = std::span<const std::vector<std::string>>;

// What `of` gives for each text and its references.
template <class Of>
auto each_of(Texts texts, References references, Of of) {
  require(texts.size() == references.size(), "[metrics] {} texts for {} references", texts.size(), references.size());
  std::vector<decltype(of(texts[0], references[0]))> all;
  all.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) all.push_back(of(texts[i], references[i]));
  return all;
}

TextMetric bleu_of(const BleuOptions& options) {
  return {.name = "bleu",
          .title = "BLEU",
          .by_samples =
              [options](Texts texts, References references) {
                return score_of_sums(each_of(texts, references,
                                             [&](const std::string& text, const std::vector<std::string>& right) {
                                               return bleu_counts(text, right, options);
                                             }),
                                     [options](const BleuCounts& sum) { return bleu(sum, options).score; });
              },
          .signature = [options](std::size_t references) { return bleu_signature(references, options); }};
}

TextMetric chrf_of(const ChrfOptions& options) {
  return {.name = "chrf",
          .title = options.words == 0 && options.beta == 2 ? "chrF" : chrf_name(options),
          .by_samples =
              [options](Texts texts, References references) {
                return score_of_sums(each_of(texts, references,
                                             [&](const std::string& text, const std::vector<std::string>& right) {
                                               return chrf_counts(text, right, options);
                                             }),
                                     [options](const ChrfCounts& sum) { return chrf(sum, options); });
              },
          .signature = [options](std::size_t references) { return chrf_signature(references, options); }};
}

TextMetric rouge_of(const RougeKind& kind, const RougeOptions& options) {
  return {.name = kind.name(),
          .title = kind.title(),
          .by_samples =
              [kind, options](Texts texts, References references) {
                return score_of_means(
                    each_of(texts, references, [&](const std::string& text, const std::vector<std::string>& right) {
                      return 100 * rouge(kind, text, right, options).f;
                    }));
              },
          .signature = [options](std::size_t references) { return rouge_signature(references, options); }};
}

// Against the reference with the lowest rate.
ErrorCounts fewest_errors(const std::string& text, const std::vector<std::string>& references, ErrorUnit unit,
                          bool fold_phones) {
  require(!references.empty(), "[metrics] a text has no reference");
  const auto units = [&](const std::string& line) {
    std::vector<std::string> all = error_units(line, unit);
    return fold_phones ? folded_phones(all) : all;
  };
  const std::vector<std::string> own = units(text);
  std::optional<ErrorCounts> best;
  for (const std::string& reference : references) {
    const ErrorCounts counts = error_counts(align_errors(units(reference), own));
    if (!best || counts.rate() < best->rate()) best = counts;
  }
  return *best;
}

TextMetric error_rate_of(const std::string& name, const std::string& title, ErrorUnit unit, bool fold_phones) {
  return {.name = name,
          .title = title,
          .higher_is_better = false,
          .by_samples =
              [unit, fold_phones](Texts texts, References references) {
                return score_of_sums(each_of(texts, references,
                                             [&](const std::string& text, const std::vector<std::string>& right) {
                                               return fewest_errors(text, right, unit, fold_phones);
                                             }),
                                     [](const ErrorCounts& sum) { return 100 * sum.rate(); });
              },
          .signature =
              [unit, fold_phones](std::size_t references) {
                return fmt::format("nrefs:{}|case:mixed|unit:{}|refs:best{}", references,
                                   unit == ErrorUnit::words ? "word" : "char", fold_phones ? "|phones:39" : "");
              }};
}

CaptionCase caption_case(const std::string& text, const std::vector<std::string>& references) {
  CaptionCase image{caption_line(text), {}};
  for (const std::string& reference : references) image.references.push_back(caption_line(reference));
  return image;
}

std::string caption_signature(std::size_t references) { return fmt::format("nrefs:{}|case:lc|tok:ptb", references); }

TextMetric caption_bleu_of(std::size_t order) {
  return {.name = fmt::format("bleu{}", order),
          .title = fmt::format("BLEU-{}", order),
          .by_samples =
              [order](Texts texts, References references) {
                return score_of_sums(each_of(texts, references,
                                             [](const std::string& text, const std::vector<std::string>& right) {
                                               return caption_bleu_counts(caption_case(text, right));
                                             }),
                                     [order](const BleuCounts& sum) { return 100 * caption_bleu(sum)[order - 1]; });
              },
          .signature = caption_signature};
}

TextMetric caption_rouge_of() {
  return {.name = "coco-rouge",
          .title = "COCO ROUGE-L",
          .by_samples =
              [](Texts texts, References references) {
                return score_of_means(
                    each_of(texts, references, [](const std::string& text, const std::vector<std::string>& right) {
                      return 100 * caption_rouge_l(caption_case(text, right));
                    }));
              },
          .signature = caption_signature};
}

TextMetric cider_of(Cider kind) {
  return {.name = kind == Cider::d ? "cider-d" : "cider",
          .title = kind == Cider::d ? "CIDEr-D" : "CIDEr",
          .digits = 3,
          .by_samples =
              [kind](Texts texts, References references) {
                return score_of_means(cider(each_of(texts, references, caption_case), kind));
              },
          .signature = caption_signature};
}

std::vector<TextMetric> all_metrics(const TextMetricOptions& options) {
  std::vector<TextMetric> all{bleu_of(options.bleu), chrf_of(options.chrf)};
  for (const char* name : {"rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rouge6", "rouge7", "rouge8", "rouge9",
                           "rougeL", "rougeLsum"})
    all.push_back(rouge_of(rouge_named(name), options.rouge));
  all.push_back(error_rate_of("wer", "WER", ErrorUnit::words, false));
  all.push_back(error_rate_of("cer", "CER", ErrorUnit::characters, false));
  all.push_back(error_rate_of("per", "PER", ErrorUnit::words, options.fold_phones));
  for (std::size_t order = 1; order <= BleuCounts::kOrder; ++order) all.push_back(caption_bleu_of(order));
  all.push_back(caption_rouge_of());
  all.push_back(cider_of(Cider::plain));
  all.push_back(cider_of(Cider::d));
  return all;
}

}  // namespace

TextMetric text_metric_named(const std::string& name, const TextMetricOptions& options) {
  std::vector<std::string> known;
  for (TextMetric& metric : all_metrics(options)) {
    if (metric.name == name) return std::move(metric);
    known.push_back(metric.name);
  }
  fail("[metrics] there is no metric {}{}", name, did_you_mean(name, known));
}

}  // namespace heed
