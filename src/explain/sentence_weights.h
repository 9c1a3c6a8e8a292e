#pragma once

#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

// The weights of a document's words as Yang et al. 2016 draw them, figure 5: a word is as dark as √p_s · p_w, where p_s
// is what its sentence got and p_w what the word got of that, so that words of sentences that hardly count stay light.
struct SentenceWeights {
  Tensor sentences;  // [rows, sentences]: p_s
  Tensor words;      // [rows, words]: √p_s · p_w
};
// Of weights [rows, words] and the word behind each sentence's last one. Words behind the last sentence are one more.
// Without ends there are no sentences, and the words' weights stay as they are.
SentenceWeights sentence_weights(const Tensor& weights, const std::vector<Index>& ends);

// The word behind each sentence's last, all words covered: `ends` with their number as the last where that is missing.
std::vector<Index> whole_sentences(std::vector<Index> ends, Index words);

}  // namespace heed
