#pragma once

#include <span>
#include <vector>

#include "heed/data/eraser.h"

// How well a model's rationales are those of people, as the ERASER benchmark measures it (DeYoung et al. 2020).

namespace heed {

struct PrecisionRecall {
  double precision = 0, recall = 0, f1 = 0;
};

// Micro: counts summed over everything. Macro: over pairs of an annotation and a document.
struct RationaleAgreement {
  PrecisionRecall micro, macro;
};

// Spans against spans: a predicted one is right if its best intersection over union with a right one is at least
// `threshold`. The macro F1 is that of the mean precision and the mean recall.
RationaleAgreement span_agreement(std::span<const EraserAnnotation> annotations,
                                  std::span<const EraserPrediction> predictions, double threshold = 0.5);
// Tokens against tokens. The macro F1 is the mean of the pairs' F1.
RationaleAgreement token_agreement(std::span<const EraserAnnotation> annotations,
                                   std::span<const EraserPrediction> predictions);

// The area under the curve of precision over recall, by trapezia, of weights that should be higher where the truth is;
// 0.5 where it is nowhere, as scikit-learn has it.
double area_under_precision_recall(std::span<const double> weights, const std::vector<bool>& truth);
// Its mean over the predictions' documents. A prediction without weights, or for tokens beyond them, is an Error.
double mean_area_under_precision_recall(std::span<const EraserAnnotation> annotations,
                                        std::span<const EraserPrediction> predictions);

// The `count` tokens with the highest weights, neighbours as one span; of equal weights the first.
std::vector<TokenSpan> spans_of_heaviest(std::span<const double> weights, Index count);

}  // namespace heed
