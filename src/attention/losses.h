#pragma once

#include "heed/autograd/var.h"

// What is added to a loss, or made of the weights, beside the read. Weights are [batch, n, m] (one head), n the output
// steps and m the memory.

namespace heed {

// See, Liu, Manning 2017: Σ_j min(a_j, c_j), where c is the sum of the weights before this step. [batch, m] each →
// [batch]. At most 1.
Var coverage_loss(const Var& weights, const Var& coverage);

// See, Liu, Manning 2017, copying: P(w) = p_gen P_vocab(w) + (1 - p_gen) Σ_{j: x_j = w} a_j over the extended
// vocabulary. p_gen [batch, 1], vocabulary [batch, V], weights [batch, m], source ids [batch, m] below `extended` >= V.
Var pointer_distribution(const Var& p_gen, const Var& vocabulary, const Var& weights, const Ids& source,
                         Index extended);

// Chen et al. 2016, guided alignment: the mean over output steps of -Σ_j A_j log α_j, gold rows normalised to sum 1;
// rows of zeros (nothing aligned) take no part.
Var guided_alignment_loss(const Var& weights, const Tensor& gold);

// Lin et al. 2017: ‖A Aᵀ - I‖²_F, summed over the batch; rows that look at different places cost nothing.
Var row_penalty(const Var& weights);

// Xu et al. 2015: Σ_j (1 - Σ_t α_tj)², summed over the batch: every place should be looked at about once. Places beyond
// a length take no part if a mask [batch, m] is given.
Var doubly_stochastic_penalty(const Var& weights, const Mask& real = {});

// Entropy of each look, -Σ_j a_j log a_j (Grandvalet, Bengio 2005 minimise that of labels): [batch, n, m] → [batch, n].
Var look_entropy(const Var& weights);

// Xu et al. 2015, hard attention. The loss whose gradient is
//   -λ_r (reward - baseline) ∂log p(s) - λ_e ∂H,
// reward = log p(y | s) of each sampled row, log_probability and entropy of the same shape. Reward and baseline are
// numbers, not differentiated.
struct Reinforce {
  double reward_weight = 0.1;
  double entropy_weight = 0.002;
};
Var reinforce_loss(const Var& log_probability, const Var& entropy, const Tensor& reward, double baseline,
                   const Reinforce& options = {});

// Cui et al. 2017, attention over attention: document [batch, d, width], question [batch, q, width] with their true
// lengths.
//   M = D Qᵀ,  α = softmax of each column over the document,  β = softmax of each row over the question,
//   s = α · (mean of β over the document)
struct OverAttention {
  Var weights;     // s [batch, d]: a distribution over the document
  Var onto_words;  // α [batch, q, d]: from each word of the question
  Var onto_asked;  // β [batch, d, q]: from each word of the document
};
OverAttention attention_over_attention(const Var& document, const Var& question, const Ids& document_lengths,
                                       const Ids& question_lengths);
// P(w) = Σ_{i: D_i = w} s_i: [batch, d] → [batch, vocabulary].
Var sum_by_word(const Var& weights, const Ids& words, Index vocabulary);

}  // namespace heed
