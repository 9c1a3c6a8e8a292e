#include "heed/jobs/reward_loss.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heed/autograd/ops/elementwise.h"

namespace heed {

RewardLoss::RewardLoss(const Bundle& bundle, Index draws, std::unique_ptr<TextReward> reward)
    : bundle_(bundle), draws_(draws), reward_(std::move(reward)) {
  require(draws_ >= 2, "[reward] a text is compared with others, so at least 2 are drawn, not {}", draws_);
}

// No longer than `longest`.
Hypotheses RewardLoss::drawn(const Source& source, Index longest, Random& random) const {
  const NoGradient off;
  SearchOptions options;
  options.best = draws_;
  options.longest_factor = 0;
  options.longest_extra = longest;
  options.seed = RandomSequence(random.next()).bits();
  const std::unique_ptr<Decoding> decoding = bundle_.writer->start(source);
  return sample_search(*decoding, source.lengths, options);
}

RewardLoss::Result RewardLoss::operator()(const Source& source, std::span<const EncodedSample> samples, Random& random,
                                          std::optional<double> baseline) const {
  std::size_t longest = 0;
  for (const EncodedSample& sample : samples) longest = std::max(longest, sample.output.size() + 1);
  // What is longer has nothing to gain and costs time.
  const Hypotheses texts = drawn(source, 2 * static_cast<Index>(longest) + 8, random);
  std::vector<EncodedSample> written;  // the draws of each sample, one after the other
  const auto rows = static_cast<Index>(samples.size()) * draws_;
  const auto draws = static_cast<double>(draws_);
  Tensor advantages(Shape{rows});
  double total = 0;  // Σ over the samples of their mean reward
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::vector<double> rewards;
    for (const Hypothesis& text : texts[i]) {
      EncodedSample& own = written.emplace_back(samples[i]);
      own.output = text.words;
      rewards.push_back((*reward_)(bundle_.output_words(own).decode(text.words), own.references));
    }
    const double sum = std::accumulate(rewards.begin(), rewards.end(), 0.0);
    total += sum / draws;
    for (std::size_t k = 0; k < rewards.size(); ++k)
      advantages.data()[i * rewards.size() + k] = static_cast<Real>(rewards[k] - (sum - rewards[k]) / (draws - 1));
  }

  const SampleBatch batch = texts_of(written);
  const TeacherForced forced = bundle_.writer->forward(
      source, batch.previous, {.random = &random, .baseline = baseline, .row_weights = advantages});
  Tensor weights(batch.expected.shape());
  const Index n = weights.size(1);
  for (Index row = 0; row < rows; ++row) std::fill_n(weights.data() + row * n, n, advantages.data()[row]);
  Var loss = forced.words.cross_entropy(batch.expected, {.average = false, .weights = weights});
  if (forced.penalty) loss = loss + forced.penalty;
  loss = scale(loss, static_cast<Real>(1 / draws));
  // What it has been made of says how fast it falls; its value is to say how good the texts are.
  const Var shift(Tensor::scalar(static_cast<Real>(-total) - loss.value().item()));
  return {loss + shift, forced.reward};
}

}  // namespace heed
