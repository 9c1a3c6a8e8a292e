#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "heed/data/sample_batch.h"
#include "heed/data/samples.h"

namespace heed {

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
  // Words that the links of their sample leave out are guided to the end of the input, which means no word at all.
  bool unlinked_at_end = false;
  bool keep_encoded = false;  // batches hold their samples
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
  // The samples of the next batch, before they are put together.
  std::vector<EncodedSample> next_samples();

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
  const std::vector<std::size_t>& open_batch();
  void close_batch();
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
