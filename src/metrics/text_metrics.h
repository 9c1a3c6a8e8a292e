#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/metrics/bleu.h"
#include "heed/metrics/bootstrap.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/rouge.h"

// Every metric of texts by its name.

namespace heed {

struct TextMetricOptions {
  BleuOptions bleu = {};
  ChrfOptions chrf = {};
  RougeOptions rouge = {};
  bool fold_phones = false;  // PER counts TIMIT's 39 phones
};

struct TextMetric {
  std::string name, title;  // "rougeL", "ROUGE-L"
  bool higher_is_better = true;
  int digits = 2;  // behind the point, in tables
  // Of texts against references[i], at least one each, for any choice of them. In percent, but for CIDEr.
  std::function<ScoreOfSamples(std::span<const std::string> texts,
                               std::span<const std::vector<std::string>> references)>
      by_samples;
  // What somebody has to know to compute the same, without the version.
  std::function<std::string(std::size_t references)> signature;
};

//   bleu, chrf                          translations, as sacreBLEU
//   rouge1 .. rouge9, rougeL, rougeLsum summaries: the F of Google's rouge-score
//   wer, cer, per                       what was recognised: errors, so that less is better; of several references the
//                                       one with the lowest rate
//   bleu1 .. bleu4, coco-rouge,         captions, as pycocoevalcap
//   cider, cider-d
// An Error with the nearest name for one that is not known.
TextMetric text_metric_named(const std::string& name, const TextMetricOptions& options = {});

}  // namespace heed
