#include "heed/attention/losses.h"

#include "heed/attention/attention.h"
#include "heed/autograd/ops/along.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"

namespace heed {

Var coverage_loss(const Var& weights, const Var& coverage) {
  return sum(weights - relu(weights - coverage), -1);  // min(a, c) = a - max(a - c, 0)
}

Var pointer_distribution(const Var& p_gen, const Var& vocabulary, const Var& weights, const Ids& source,
                         Index extended) {
  require(extended >= vocabulary.size(-1), "[pointer] an extended vocabulary of {} is smaller than {}", extended,
          vocabulary.size(-1));
  const Var generated = pad(p_gen * vocabulary, -1, 0, extended - vocabulary.size(-1));
  const Var one(Tensor(p_gen.shape(), Real{1}));
  return generated + sum_along((one - p_gen) * weights, source, extended);
}

Var guided_alignment_loss(const Var& weights, const Tensor& gold) {
  require(gold.shape() == weights.shape(), "[guided] gold {} does not fit weights {}", gold.shape(), weights.shape());
  const Index m = gold.size(-1);
  Tensor target = gold.copy();
  Index aligned = 0;
  for (Index at = 0; at < target.size(); at += m) {
    double total = 0;
    for (Index j = at; j < at + m; ++j) total += static_cast<double>(target.data()[j]);
    if (total <= 0) continue;
    ++aligned;
    for (Index j = at; j < at + m; ++j)
      target.data()[j] = static_cast<Real>(static_cast<double>(target.data()[j]) / total);
  }
  // A weight of exactly zero where gold is not would be infinitely wrong; the floor keeps it finite.
  const Var floor(Tensor::scalar(Real{1e-8F}));
  const Var cost = negate(sum(Var(target) * log(weights + floor)));
  return scale(cost, Real{1} / static_cast<Real>(std::max<Index>(aligned, 1)));
}

Var row_penalty(const Var& weights) {
  const Index rows = weights.size(-2);
  Tensor identity(Shape{rows, rows}, Real{0});
  for (Index i = 0; i < rows; ++i) identity.data()[i * rows + i] = 1;
  return sum(square(matmul(weights, weights, {.b = true}) - Var(identity)));
}

Var doubly_stochastic_penalty(const Var& weights, const Mask& real) {
  const Var looked = sum(weights, -2);  // [batch, m]
  require(!real || real.shape() == looked.shape(), "[doubly_stochastic] mask {} does not fit {}", real.shape(),
          looked.shape());
  return sum(square(Var(as_numbers(real, looked.shape())) - looked));
}

Var look_entropy(const Var& weights) {
  const Var floor(Tensor::scalar(Real{1e-8F}));  // a log a is 0 where a is
  return negate(sum(weights * log(weights + floor), -1));
}

Var reinforce_loss(const Var& log_probability, const Var& entropy, const Tensor& reward, double baseline,
                   const Reinforce& options) {
  require(reward.shape() == log_probability.shape() && reward.shape() == entropy.shape(),
          "[reinforce] reward {}, log-probability {} and entropy {} differ", reward.shape(), log_probability.shape(),
          entropy.shape());
  Tensor advantage = reward.copy();
  for (Real& r : advantage.values()) r = static_cast<Real>(options.reward_weight * (static_cast<double>(r) - baseline));
  return negate(sum(Var(advantage) * log_probability) + scale(sum(entropy), static_cast<Real>(options.entropy_weight)));
}

OverAttention attention_over_attention(const Var& document, const Var& question, const Ids& document_lengths,
                                       const Ids& question_lengths) {
  require(document.rank() == 3 && question.rank() == 3 && document.size(0) == question.size(0) &&
              document.size(2) == question.size(2),
          "[attention_over_attention] document {} and question {} do not fit", document.shape(), question.shape());
  const Index batch = document.size(0), d = document.size(1), q = question.size(1);
  const char* op = "attention_over_attention";
  const Ids words = checked_lengths(op, document_lengths, batch, d),
            asked = checked_lengths(op, question_lengths, batch, q);
  const Mask real_words = padding_mask(words, d), asked_words = padding_mask(asked, q);
  const Var pairs = matmul(document, question, {.b = true});                                  // [batch, d, q]
  const Var alpha = softmax(transpose(pairs, 1, 2), real_words.reshape(Shape{batch, 1, d}));  // [batch, q, d]
  const Var beta =
      softmax(pairs, both(asked_words.reshape(Shape{batch, 1, q}), real_words.reshape(Shape{batch, d, 1})));
  Tensor share(Shape{batch, 1});  // 1 / true document length
  for (Index b = 0; b < batch; ++b)
    share.data()[b] = Real{1} / static_cast<Real>(std::max<std::int32_t>(words.data()[b], 1));
  const Var mean_beta = sum(beta, 1) * Var(share);  // [batch, q]
  return {reshape(matmul(reshape(mean_beta, Shape{batch, 1, q}), alpha), Shape{batch, d}), alpha, beta};
}

Var sum_by_word(const Var& weights, const Ids& words, Index vocabulary) {
  return sum_along(weights, words, vocabulary);
}

}  // namespace heed
