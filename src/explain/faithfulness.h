#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/data/sample_batches.h"
#include "heed/metrics/aer.h"
#include "heed/models/system.h"
#include "heed/trace/trace.h"

// How far weights may be read as the reason for an output: a picture of attention shows where a model looked, and these
// numbers whether that mattered. With an input x of m places (words, frames, regions), the output y of n steps (its
// words, or one label), and weights α [n, m]:
//
//   entropy              H_t = -Σ_j α_tj ln α_tj, of the row as a distribution
//   gradient             g_tj = |α_tj ∂ ln p(y_t | x, y_<t) / ∂α_tj|   (Serrano, Smith 2019)
//   leave one out        d_tj = |ln p(y_t | x, y_<t) - ln p(y_t | x without j, y_<t)|
//   agreement            the mean over t of Kendall's τ of α_t with g_t or d_t   (Jain, Wallace 2019)
//   comprehensiveness    the mean over t and bins of p(y_t | x) - p(y_t | x without r)   (DeYoung et al. 2020, ERASER)
//   sufficiency          the mean over t and bins of p(y_t | x) - p(y_t | r)
//                        where r are the ⌈bin · m⌉ places with the most weight
//   random               the same two where r are as many places drawn at random: what any weights would reach
//
// The gradient is exact: the weights that the alignment is made of (those of one layer and all its heads, or of all
// layers of a convolutional decoder) carry factors of 1, and ∂/∂factor of ln p(y_t) is α ∂/∂α, summed over heads. All
// else is held still, y_<t and other steps' weights included. It is taken of the model's own weights, also where the
// trace's are others (a head, a rollout).
//
// The end of a text cannot be left out and takes no part in agreements and bins. A label whose alignment has several
// rows (word by word) is explained by their mean. Faithful weights have agreements near 1, a comprehensiveness well
// above that of random ones and a sufficiency near 0. None of this proves that a person's reading of them is right:
// leaving places out makes inputs that the model never saw.

namespace heed {

// An output as a model gives it, and what the model would have said of it with less to look at.
class Evidence {
 public:
  virtual ~Evidence() = default;
  virtual Index steps() const = 0;   // of the output
  virtual Index places() const = 0;  // of the input that can be left out
  // ln p(y_t | the kept places, y_<t) for each choice of them: [choices, steps]. Each choice has a truth per place.
  virtual Tensor log_probabilities(std::span<const std::vector<bool>> choices) const = 0;
  // g of the equations above: [steps, places].
  virtual Tensor gradients() const = 0;
};

// Called again and again while evidence is gathered; what it throws ends that.
using OnStep = std::function<void()>;
// Of a writer that read `source` and wrote `output` (without begin; with the end where it was written).
std::unique_ptr<Evidence> writer_evidence(const Writer& writer, EncodedInput source, std::vector<std::int32_t> output,
                                          OnStep on_step = {});
// Of a chooser that gave the sample's output. Places are left out of the input that its alignment looks at; what can be
// chosen stays.
std::unique_ptr<Evidence> chooser_evidence(const Chooser& chooser, EncodedSample sample, OnStep on_step = {});

struct TrustOptions {
  std::vector<double> bins = {0.01, 0.05, 0.1, 0.2, 0.5};  // shares of the input's places
  std::optional<AlignmentLinks> gold;                      // between the words of input and output
};

// Of a trace at the level of its tokens. Nothing is measured without an alignment, nothing but the entropy of an empty
// input. Costs one forward and backward of n copies of the sample and forwards of up to m + 4 n · bins shortened ones,
// in batches.
TraceTrust measure_trust(const Evidence& evidence, const Trace& trace, const TrustOptions& options = {});

// The parts -------------------------------------------------------------------------------------------------------

// Each row's entropy in nats; of what is left of a row whose sum is not 1, and 0 of a row of zeros.
std::vector<double> row_entropies(const Tensor& weights);
// d of the equations above, [steps, places].
Tensor leave_one_out_changes(const Evidence& evidence);

// Kendall's τ-b, which counts pairs that are equal in one of the two neither for nor against: in -1..1, NaN where all
// of a or all of b are equal.
double kendall_tau(std::span<const Real> a, std::span<const Real> b);

struct ErasureScores {
  double comprehensiveness = 0, sufficiency = 0;
};
// Of weights [steps, places or more].
ErasureScores erasure_scores(const Evidence& evidence, const Tensor& weights, std::span<const double> bins);
// The mean over random orders of the places, the same ones in every call.
ErasureScores random_erasure_scores(const Evidence& evidence, std::span<const double> bins);

// For every output word the input word with the most weight, between words.
AlignmentLinks hard_word_links(const Trace& trace);

}  // namespace heed
