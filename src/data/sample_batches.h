#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/frame_times.h"
#include "heed/data/samples.h"
#include "heed/data/source.h"
#include "heed/data/vocabulary.h"
#include "heed/data/word_links.h"

namespace heed {

// One input as numbers: words, or features.
struct EncodedInput {
  std::vector<std::int32_t> words = {};  // of a text, without the end
  std::vector<std::int32_t> ends = {};   // of a document: where each sentence ends in `words`
  Tensor features = {};                  // [length, width]
  FrameTimes frames = {};                // of a sound
  bool whole = false;                    // an image, whose size the model chose: limits of length are not about it
  // Of a text whose words may be copied: `words` in a vocabulary of its own, whose first `known` are the model's.
  std::vector<std::int32_t> copies = {};
  Index known = 0;
  std::shared_ptr<const Vocabulary> extended = {};
  // Where a choice is given, of each word: of what is chosen from the number of the choice that it is, of a question 0
  // at its blank, and -1 elsewhere.
  std::vector<std::int32_t> marks = {};

  Index length() const { return features ? features.size(0) : static_cast<Index>(words.size()); }
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
  std::vector<Index> numbers;  // of the samples
  // [batch, longest of the output, longest of the first input]: rows sum to 1, or are zero where nothing is known (the
  // end, words without links). Empty unless there is a file of alignments.
  Tensor alignment;
};

// What `encode` throws at an input that is there and cannot be read: a training goes on without it and counts it.
class UnreadableInput : public Error {
 public:
  using Error::Error;
};

// One batch of the samples in the order given, padded.
SampleBatch batch_of(std::span<const EncodedSample> samples, bool gives_label);

struct BatchOptions {
  SampleFiles files;
  std::vector<SampleColumn> columns;
  bool gives_label = false;
  // Called by many threads; an Error that it throws ends the reading, unless it is an UnreadableInput. `links` and
  // `number` are set afterwards.
  std::function<EncodedSample(const Sample&)> encode;
  // Told of every sample that encode could read, in order; those that no batch takes for their length are among them.
  // Empty: nobody asks.
  std::function<void(const Sample&)> on_sample;
  // For links: which word each piece of the first input and of the output belongs to.
  std::function<std::vector<std::vector<Index>>(const EncodedSample&)> words_of;
  Index batch_tokens = 4096;  // neither an input nor the output is larger, padded; 0: no limit
  Index batch_samples = 0;    // 0: no limit
  Index longest = 100;        // pieces of an input or output without the end; nor more than a batch has room for
  bool name_unknown = false;  // an output with a unit that the vocabulary lacks is counted, and used all the same
  bool cut_inputs = false;    // longer inputs are cut and counted, instead of left out
  std::uint64_t seed = 1;
  bool shuffle = true;     // otherwise batches go from short to long, the same in every epoch
  Index buffer = 200'000;  // samples in memory; files with more are read anew in every epoch
};

// Batches of the samples of files, epoch after epoch. Samples go through a buffer, in which they are shuffled by (seed,
// epoch), brought together by length and cut into batches; the batches are shuffled too. What comes depends on files
// and options only, never on threads or on where a run was interrupted.
class SampleBatches {
 public:
  // Reads the first buffer, so that what is wrong with the files is said at once.
  explicit SampleBatches(BatchOptions options);
  ~SampleBatches();
  SampleBatches(SampleBatches&&) noexcept;
  SampleBatches& operator=(SampleBatches&&) noexcept;

  // The pieces [from, to) of a batch that is cut into `of`, where piece i of n samples are [n i / of, n (i + 1) / of).
  struct Part {
    Index from = 0, to = 1, of = 1;
  };
  // The next batch, or a part of it, which may have no samples; after the last of an epoch the next epoch starts by
  // itself.
  SampleBatch next(const Part& part);
  SampleBatch next() { return next({}); }

  // How many batches of which epoch were given. After the last batch of epoch e it is {e + 1, 0}.
  struct Position {
    Index epoch = 0, batch = 0;
    bool operator==(const Position&) const = default;
  };
  Position position() const { return position_; }
  // Afterwards next() gives exactly what it would have given there.
  void seek(Position position);

  // Of the files if they were read to their end, else of what was read of them.
  const SampleReport& report() const;

 private:
  class Reader;

  void start_epoch(Index epoch);
  bool fill();
  void read_buffer();
  void cut_batches();
  SampleBatch assemble(const std::vector<std::size_t>& rows, const Part& part) const;

  BatchOptions options_;
  std::unique_ptr<Reader> reader_;
  std::vector<EncodedSample> samples_;             // of this buffer, in the order of the files
  std::vector<std::vector<std::size_t>> batches_;  // of this buffer; rows of samples_
  std::size_t at_ = 0;                             // the next of batches_
  Index buffers_ = 0;                              // of this epoch, up to this one
  bool whole_ = false;                             // samples_ is all there is
  bool started_ = false;                           // the epoch of position_ is open
  Position position_;
  SampleReport complete_;  // of an epoch that was read to its end
};

}  // namespace heed
