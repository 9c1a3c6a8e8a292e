// Recurrent layers over 64 sentences of 30 words, 512 wide in and out, in the form that PyTorch has.
#include <cmath>

#include "engine/case.h"
#include "engine/differentiated.h"
#include "heed/autograd/ops/recurrent.h"

namespace heed::bench {
namespace {

constexpr Index kSentences = 64, kLength = 30, kWidth = 512;

std::vector<Input> inputs(Index gates) {
  const Real scale = 1 / std::sqrt(static_cast<Real>(kWidth));
  return {{"dx", Var::leaf(filled({kSentences, kLength, kWidth}, 1))},
          {"dw", Var::leaf(filled({kWidth, gates * kWidth}, 2, scale))},
          {"du", Var::leaf(filled({kWidth, gates * kWidth}, 3, scale))},
          {"db", Var::leaf(filled({gates * kWidth}, 4, scale))},
          {"dc", Var::leaf(filled({kWidth}, 5, scale))}};
}

const Case gru_training("gru", [] {
  return differentiated(inputs(3), filled({kSentences, kLength, kWidth}, 6), [](const auto& in) {
    return gru(in[0].var, {in[1].var, in[2].var, in[3].var, in[4].var}).outputs;
  });
});

const Case lstm_training("lstm", [] {
  std::vector<Input> without_candidate_bias = inputs(4);
  without_candidate_bias.pop_back();
  return differentiated(without_candidate_bias, filled({kSentences, kLength, kWidth}, 6), [](const auto& in) {
    return lstm(in[0].var, {in[1].var, in[2].var, in[3].var}).outputs;
  });
});

}  // namespace
}  // namespace heed::bench
