#pragma once

#include <array>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/metrics/bleu.h"

// The scores of captions as the COCO evaluation computes them (Chen et al. 2015, pycocoevalcap), in 0..1 but for CIDEr,
// which is in 0..10. Captions are words parted by spaces: caption_line (metrics/caption_words.h) makes them of what a
// person writes.

namespace heed {

// A caption with its references, at least one.
struct CaptionCase {
  std::string caption;
  std::vector<std::string> references;
};

// BLEU-1 to BLEU-4, not smoothed but for the tiny numbers that keep quotients finite:
//   p_k = (correct + 1e-15) / (guessed + 1e-9),  BLEU-k = (p_1 … p_k)^(1/k) · min(1, exp(1 - 1/ratio))
using CaptionBleu = std::array<double, BleuCounts::kOrder>;
BleuCounts caption_bleu_counts(const CaptionCase& image);
CaptionBleu caption_bleu(const BleuCounts& counts);

// The longest common subsequence, with the best precision and the best recall of any reference, β = 1.2:
//   F = (1 + β²) P R / (R + β² P)
double caption_rouge_l(const CaptionCase& image);

// Consensus, Vedantam, Zitnick, Parikh 2015: the cosine of n-grams, n = 1..4, that weigh the more the fewer images have
// them. CIDEr-D, which pycocoevalcap calls CIDEr, clips counts and takes a length that differs as a fault.
enum class Cider { plain, d };
// Of each image; the score of all is their mean. How frequent n-grams are is counted in all images' references.
std::vector<double> cider(std::span<const CaptionCase> images, Cider kind);

// In how many images' references each n-gram is; n-grams of different orders never meet, since words have no spaces.
class NGramFrequencies {
 public:
  // The references of one image more.
  void add(std::span<const std::string> references);
  // How much an n-gram weighs that is in a caption so often.
  double weight(const std::string& ngram, Index count) const;

 private:
  Index images_ = 0;
  std::unordered_map<std::string, Index> with_;  // images with each n-gram
};
// Of one image, by frequencies that were counted in others.
double cider(const CaptionCase& image, const NGramFrequencies& frequencies, Cider kind);

}  // namespace heed
