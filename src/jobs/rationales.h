#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/eraser.h"
#include "heed/jobs/runner.h"
#include "heed/metrics/rationales.h"

namespace heed {

// What decided, as a model's weights say it, for the annotations of the ERASER benchmark (DeYoung et al. 2020), and how
// well people agree.
struct Rationales {
  std::vector<EraserPrediction> predictions;
  double share = 0;                  // of a document's words in people's rationales; as many are taken of the weights
  RationaleAgreement spans, tokens;  // with those of people
  double area = 0;                   // under precision over recall, of the weights
  // Of the label that is given, over the benchmark's bins of words: how much its probability falls without those with
  // the most weight, and how much with nothing else.
  double comprehensiveness = 0, sufficiency = 0;

  std::string text() const;
};

// `samples` are those of the annotations. A model that gives no labels or looks at no text is an Error.
Rationales find_rationales(Runner& runner, std::span<const EraserAnnotation> annotations,
                           std::span<const Sample> samples);

}  // namespace heed
