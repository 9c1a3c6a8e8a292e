#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/frame_times.h"
#include "heed/data/source.h"
#include "heed/data/vocabulary.h"
#include "heed/data/word_links.h"

namespace heed {

// Features that each batch makes anew: those of an image that are its pixels take far more memory than its file.
struct LateFeatures {
  Index length = 0, width = 0;
  std::function<Tensor()> make;  // [length, width]; many threads may call it
};

// One input as numbers: words, or features.
struct EncodedInput {
  std::vector<std::int32_t> words = {};  // of a text, without the end
  std::vector<std::int32_t> ends = {};   // of a document: where each sentence ends in `words`
  Tensor features = {};                  // [length, width]; empty where they are made later
  std::shared_ptr<const LateFeatures> late = {};
  FrameTimes frames = {};  // of a sound
  bool whole = false;      // an image, whose size the model chose: limits of length are not about it
  // Of a text whose words may be copied: `words` in a vocabulary of its own, whose first `known` are the model's.
  std::vector<std::int32_t> copies = {};
  Index known = 0;
  std::shared_ptr<const Vocabulary> extended = {};
  // Where a choice is given, of each word: of what is chosen from the number of the choice that it is, of a question 0
  // at its blank, and -1 elsewhere.
  std::vector<std::int32_t> marks = {};

  bool has_features() const { return late || features; }
  Index length() const {
    if (late) return late->length;
    return features ? features.size(0) : static_cast<Index>(words.size());
  }
  Index width() const { return late ? late->width : features.size(1); }          // of features
  Tensor all_features() const { return late ? late->make() : features; }         // which may be made now
  Index length_in_batch() const { return length() + (has_features() ? 0 : 1); }  // a text has its end there
  // What limits of length count.
  Index limited_length() const { return whole ? 1 : length(); }
};

// A sample as numbers.
struct EncodedSample {
  std::vector<EncodedInput> inputs = {};
  // Words without begin and end, perhaps some that only the first input's `extended` vocabulary has; or the number of a
  // label or choice; empty where nothing is known.
  std::vector<std::int32_t> output = {};
  std::vector<std::vector<std::int32_t>> other_outputs = {};  // further references: a batch takes each for a sample
  std::vector<std::string> references = {};                   // as texts, for those who compare with them
  // Where a choice is given: the options, one behind the other, each ending at one of `ends`. Empty where they are the
  // words of the first input that are marked.
  EncodedInput choices = {};
  WordLinks links = {};
  Index number = 0;
};

// Leaves the first `longest` words or frames of an input that limits of length are about; of a document, the sentence
// that goes on beyond them ends there. Whether it was longer.
bool cut_input(EncodedInput& input, Index longest);

// The choices of a sample, whether they were given or are words of its first input; empty where labels are given.
EncodedInput choices_of(const EncodedSample& sample);
// How many of them each sample of a batch has, [batch].
Ids choice_counts(const Source& choices);

// Samples that are computed together. Of each output of words y1..yn the model reads `previous` and is to give
// `expected`.
struct SampleBatch {
  std::vector<Source> inputs;  // texts end with kEnd; where a choice is given, a last one has those of each sample
  Source previous;             // of words: [begin, y1..yn]; empty of labels
  Ids expected;                // of words [batch, longest]: y1..yn, end, -1 beyond; of labels [batch], -1: not known
  Index words = 0;             // of words: pieces of the outputs with their ends; of labels: samples that have one
  // Where only a part of a batch was asked for: `words` is of all of it, which has so many samples, and the first one
  // here is number `first` of them.
  Index samples = 0, first = 0;
  std::vector<Index> numbers;               // of the samples
  std::vector<EncodedSample> encoded = {};  // these themselves, if BatchOptions asked for them
  // [batch, longest of the output, longest of the first input]: rows sum to 1, or are zero where nothing is known (the
  // end, samples without links, words without one unless BatchOptions has a place for them). Empty unless there is a
  // file of alignments.
  Tensor alignment;
};

// What `encode` throws at an input that is there and cannot be read: a training goes on without it and counts it.
class UnreadableInput : public Error {
 public:
  using Error::Error;
};

// What a sample adds to the words of its batch.
Index words_of(const EncodedSample& sample, bool gives_label);

// One batch of the samples in the order given, padded; the second takes them from wherever they are.
SampleBatch batch_of(std::span<const EncodedSample> samples, bool gives_label);
SampleBatch batch_of_rows(std::span<const EncodedSample* const> samples, bool gives_label);
// A batch of outputs of words without the inputs that they are of.
SampleBatch texts_of(std::span<const EncodedSample> samples);

}  // namespace heed
