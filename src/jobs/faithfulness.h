#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/trace/trace.h"
#include "heed/metrics/aer.h"
#include "heed/jobs/translation_folder.h"

// How far weights may be read as the reason for an output: a picture of attention shows where a model looked, and these
// numbers whether that mattered. With the source x of m tokens and its end, the output y, and weights α [n, m + 1]:
//
//   entropy              H_t = -Σ_j α_tj ln α_tj, of the row as a distribution
//   gradient             g_tj = |α_tj ∂ ln p(y_t | x, y_<t) / ∂α_tj|   (Serrano, Smith 2019)
//   leave one out        d_tj = |ln p(y_t | x, y_<t) - ln p(y_t | x without j, y_<t)|
//   agreement            the mean over t of Kendall's τ of α_t with g_t or d_t   (Jain, Wallace 2019)
//   comprehensiveness    the mean over t and bins of p(y_t | x) - p(y_t | x without r)   (DeYoung et al. 2020, ERASER)
//   sufficiency          the mean over t and bins of p(y_t | x) - p(y_t | r)
//                        where r are the ⌈bin · m⌉ tokens with the most weight
//
// The gradient is exact: the weights that the alignment is made of (those of one layer and all its heads, or of all
// layers of a convolutional decoder) carry factors of 1, and ∂/∂factor of ln p(y_t) is α ∂/∂α, summed over heads. All
// else is held still, y_<t and other steps' weights included. It is taken of the model's own weights, also where the
// trace's are others (a head, a rollout).
//
// The end of the source cannot be left out and takes no part in agreements and bins. Faithful weights have agreements
// near 1, a high comprehensiveness and a sufficiency near 0. None of this proves that a person's reading of them is
// right: leaving words out makes sentences that the model never saw.

namespace heed {

struct TrustOptions {
  std::vector<double> bins = {0.01, 0.05, 0.1, 0.2, 0.5};  // shares of the source's tokens
  std::optional<AlignmentLinks> gold;                      // between the words of source and target
};

// Of a trace of this very model, at the level of its tokens; an Error if they are not the model's. Nothing is measured
// without an alignment, nothing but the entropy of an empty source. Costs one forward and backward of n copies of the
// pair and forwards of up to m + 2 n · bins shortened ones, in batches.
TraceTrust measure_trust(const TranslationBundle& bundle, const Trace& trace, const TrustOptions& options = {});

// The parts -------------------------------------------------------------------------------------------------------

// What a model read and wrote.
struct TokenPair {
  std::vector<std::int32_t> source;  // with the end
  std::vector<std::int32_t> target;  // without begin, with the end where it was written
};
// By the texts of the trace's tokens.
TokenPair token_ids(const TranslationBundle& bundle, const Trace& trace);

// Each row's entropy in nats; of what is left of a row whose sum is not 1, and 0 of a row of zeros.
std::vector<double> row_entropies(const Tensor& weights);
// g and d of the equations above, [n, m]: without the end's column.
Tensor attention_gradients(const Writer& model, const TokenPair& pair);
Tensor leave_one_out_changes(const Writer& model, const TokenPair& pair);

// Kendall's τ-b, which counts pairs that are equal in one of the two neither for nor against: in -1..1, NaN where all
// of a or all of b are equal.
double kendall_tau(std::span<const Real> a, std::span<const Real> b);

// The means over the rows of weights [n, at least m] of ERASER's two.
struct ErasureScores {
  double comprehensiveness = 0, sufficiency = 0;
};
ErasureScores erasure_scores(const Writer& model, const TokenPair& pair, const Tensor& weights,
                             std::span<const double> bins);

// For every word of the target the word of the source with the most weight: the sum over the latter's tokens and over
// its own. Without a link are words whose weight is all on the end.
AlignmentLinks hard_word_links(const Trace& trace);

}  // namespace heed
