#pragma once

#include "heed/base/real.h"

namespace heed::kernels {

// The additive score of Bahdanau, Cho, Bengio 2015, without its queries × keys × width tensor, and that of Chorowski et
// al. 2015, in which a key also has a few features f_j that change from call to call:
//   e_ij = vᵀ tanh(q_i + k_j)    or    e_ij = vᵀ tanh(q_i + k_j + Uᵀ f_j), the sum k_j + Uᵀ f_j never stored
// for each head of each sentence of a batch.
struct AdditiveSize {
  Index batch, heads, queries, keys, width, features = 0;
  Index pairs() const { return batch * heads; }
};
struct AdditiveInputs {
  const Real *q, *k, *v;                  // [pairs, queries, width], [pairs, keys, width], [width]
  const std::int32_t* lengths;            // [batch], each in 0..keys; null: all keys
  const Real *f = nullptr, *u = nullptr;  // [pairs, keys, features], [features, width], if there are features
};

// e [pairs, queries, keys]; keys at or beyond their sentence's length are not read and score 0. e must not overlap the
// inputs. A score does not depend on its neighbours: alone or in any batch it has the same bits. Error in float below
// (8 + width / lanes) 2^-24 Σ |v|, and that of the rounded q + k.
void additive_scores(const AdditiveSize& size, const AdditiveInputs& in, Real* e);

// With s_ij = de_ij v ∘ (1 - tanh²(...)), tanh computed anew:
//   dq_i = Σ_j s_ij    dk_j = Σ_i s_ij    dv = Σ de_ij tanh(...)    df_j = U Σ_i s_ij    dU = Σ_j f_j (Σ_i s_ij)ᵀ
// dk and df are 0 and de is not read at or beyond a length; if `adds`, dk is added to what is there. dv_each [pairs,
// width] and du_each [pairs, features, width] are working memory, left with each pair's share of dv and dU. Nothing may
// overlap.
struct AdditiveGradients {
  Real *dq, *dk, *dv, *dv_each;
  bool adds = false;
  Real *df = nullptr, *du = nullptr, *du_each = nullptr;
};
void additive_scores_backward(const AdditiveSize& size, const AdditiveInputs& in, const Real* de,
                              const AdditiveGradients& out);

}  // namespace heed::kernels
