#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"
#include "heed/metrics/tokens.h"

// BLEU, Papineni, Roukos, Ward, Zhu 2002, as sacreBLEU computes it (Post 2018):
//   BLEU = 100 · min(1, exp(1 - r/h)) · exp(1/4 Σ_n log p_n)
// with the clipped precisions p_n of n-grams, n = 1..4, and the lengths h of the hypotheses and r of the references
// nearest to them.

namespace heed {

// What stands for a precision of zero (Chen, Cherry 2014): exp halves it at each such order, floor counts `value`
// matches, add_k adds `value` to all counts of orders above 1.
enum class BleuSmoothing { exp, floor, add_k, none };

struct BleuOptions {
  BleuTokens tokens = BleuTokens::v13a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smoothing_value = std::nullopt;  // 0.1 for floor, 1 for add_k if not given
  bool effective_order = false;  // leaves out orders that the hypotheses are too short for; right for single sentences
};

// What the score is made of; the counts of a corpus are the sums of its sentences'.
struct BleuCounts {
  static constexpr std::size_t kOrder = 4;
  std::array<Index, kOrder> matches = {}, total = {};  // n-grams of the hypothesis, n = 1..4
  Index hypothesis_length = 0, reference_length = 0;   // tokens

  BleuCounts& operator+=(const BleuCounts& other);
};

struct Bleu {
  double score = 0;  // 0..100
  std::array<double, BleuCounts::kOrder> precisions = {};
  double brevity_penalty = 1;
  BleuCounts counts;
};

// Of one sentence against its references, at least one.
BleuCounts bleu_counts(std::string_view hypothesis, std::span<const std::string> references,
                       const BleuOptions& options = {});
Bleu bleu(const BleuCounts& counts, const BleuOptions& options = {});
// references[i] are those of hypotheses[i].
Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                 const BleuOptions& options = {});
// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp": sacreBLEU's signature without the version.
std::string bleu_signature(std::size_t references, const BleuOptions& options = {});

// "exp", "floor", "add-k" or "none"; an Error with the nearest name otherwise.
BleuSmoothing bleu_smoothing_named(const std::string& name);

}  // namespace heed
