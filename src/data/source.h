#pragma once

#include <memory>

#include "heed/tensor/tensor.h"

namespace heed {

class WordScreen;

// One input of a batch as a model reads it, padded; what stands beyond a length is never looked at.
struct Source {
  Ids words = {};        // [batch, longest]: of a text or a document
  Ids lengths = {};      // [batch], each in 0..longest
  Tensor features = {};  // instead of words, [batch, longest, width]: frames of a sound, regions of an image
  Ids ends = {};         // [batch, sentences] of a document: where each sentence ends; 0 beyond the last one
  Ids marks = {};        // [batch, longest] where choices are given: as EncodedInput has them, -1 beyond a length
  // Of a text whose words may be copied (words.h, extended_by): like `words`, but what the vocabulary of `known` words
  // lacks has an id of its own in each sample, from `known` up to `extended`. Empty where nothing is copied, or where
  // every word can be spelt.
  Ids copies = {};  // [batch, longest]
  Index known = 0, extended = 0;

  // Where few words may be written: those of any sample, rising, and which of them each sample may. A decoding then
  // counts words by their places among these. Empty: all may.
  Ids writable = {};        // [count]
  Mask writable_each = {};  // [batch, count]
  // Set where the likeliest next word is all that is asked for: what tells most words to be others. Steps of a decoding
  // may then give that word and no scores.
  std::shared_ptr<WordScreen> screen = {};

  Index batch() const { return lengths.size(0); }
  Index longest() const { return words ? words.size(1) : features.size(1); }
};

}  // namespace heed
