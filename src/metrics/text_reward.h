#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed {

// How good single texts are, for a training that is to write better ones (jobs/reward_loss.h). Unlike a metric of a
// whole set it is of use for one text: BLEU is smoothed (Lin, Och 2004), and CIDEr takes the frequencies of n-grams
// from the training's references. In both the end is a word of the text: without it a caption that stops short ("a man
// in a") has nothing to lose. Percents are shares here, and of errors there is less than none: a rate of 20 % is -0.2.
class TextReward {
 public:
  virtual ~TextReward() = default;
  // Of one text against its references, at least one. Called by many threads.
  virtual double operator()(const std::string& text, std::span<const std::string> references) const = 0;
};

// The sum of the named metrics (metrics/text_metrics.h); `training` are the references of every sample of the training.
std::unique_ptr<TextReward> text_reward_of(std::span<const std::string> names,
                                           std::span<const std::vector<std::string>> training);

}  // namespace heed
