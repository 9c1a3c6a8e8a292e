#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/data/vocabulary.h"
#include "heed/data/source.h"

namespace heed {

// What was found in a parallel corpus. Nothing is left out without being counted here.
struct PairReport {
  struct Fault {
    Index count = 0;
    std::vector<std::string> first;  // where the first few are: "train.de:17", lines counted from 1

    void add(const std::string& file, Index number);
  };
  Index lines = 0;  // pairs of lines that were read
  Index kept = 0;
  Fault invalid_utf8;     // on either side
  Fault empty;            // a side without a piece
  Fault too_long;         // more than the longest allowed
  Fault columns;          // of a TSV: not two columns
  Fault unpaired;         // one file of a pair has more lines than the other
  Fault bad_alignment;    // links that cannot be read or lead outside; such a pair is kept, without links
  bool complete = false;  // the corpus was read to its end

  Index left_out() const { return invalid_utf8.count + empty.count + too_long.count + columns.count + unpaired.count; }
  // One line for the sum, and one for each kind of fault that occurred.
  std::string text() const;
};

// A batch for training. Of each sentence y1..yn the model reads `previous` and is to give `expected`.
struct PairBatch {
  Source source;                             // each ends with kEnd
  Source previous;                           // [begin, y1..yn]
  Ids expected;                              // [batch, longest]: y1..yn, end; -1 beyond the length
  Index source_words = 0, target_words = 0;  // pieces without padding, each side with its end
  std::vector<Index> lines;                  // numbers of the lines over all files, from 0
  // [batch, longest of the target, longest of the source]: rows sum to 1, or are zero where nothing is known (the end,
  // words without links). Empty unless there is a file of alignments.
  Tensor alignment;
};

struct PairOptions {
  std::vector<std::string> source_files, target_files;  // one sentence a line; the n-th of both belong together
  std::string tsv;                                      // or both in one file, with a tab between
  std::shared_ptr<const Vocabulary> source, target;
  Index batch_tokens = 4096;  // neither side is larger, padded; 0: no limit
  Index batch_sentences = 0;  // 0: no limit
  Index longest = 100;        // pieces of a side without the end, at most; nor more than a batch has room for
  std::uint64_t seed = 1;
  bool shuffle = true;     // otherwise batches go from short to long, the same in every epoch
  Index buffer = 200'000;  // pairs in memory; a corpus with more is read anew in every epoch
  // A Pharaoh file: for each line "i-j ..." with the words i of the source and j of the target, from 0.
  std::string alignments;
};

// Batches of a parallel corpus, epoch after epoch. Pairs go through a buffer, in which they are shuffled by (seed,
// epoch), brought together by length and cut into batches; the batches are shuffled too. What comes depends on files
// and options only, never on threads or on where a run was interrupted.
class PairBatches {
 public:
  // Reads the first buffer, so that what is wrong with the files is said at once.
  explicit PairBatches(PairOptions options);
  ~PairBatches();
  PairBatches(PairBatches&&) noexcept;
  PairBatches& operator=(PairBatches&&) noexcept;

  // The next batch; after the last of an epoch the next epoch starts by itself.
  PairBatch next();

  // How many batches of which epoch were given. After the last batch of epoch e it is {e + 1, 0}.
  struct Position {
    Index epoch = 0, batch = 0;
    bool operator==(const Position&) const = default;
  };
  Position position() const { return position_; }
  // Afterwards next() gives exactly what it would have given there.
  void seek(Position position);

  // Of the corpus if it was read to its end, else of what was read of it.
  const PairReport& report() const;

 private:
  struct Pair;
  class Reader;

  void start_epoch(Index epoch);
  bool fill();
  void read_buffer();
  void cut_batches();
  PairBatch assemble(const std::vector<std::size_t>& rows) const;

  PairOptions options_;
  std::unique_ptr<Reader> reader_;
  std::vector<Pair> pairs_;                        // of this buffer, in the order of the files
  std::vector<std::vector<std::size_t>> batches_;  // of this buffer; rows of pairs_
  std::size_t at_ = 0;                             // the next of batches_
  Index buffers_ = 0;                              // of this epoch, up to this one
  bool whole_ = false;                             // pairs_ is the whole corpus
  bool started_ = false;                           // the epoch of position_ is open
  Position position_;
  PairReport complete_;  // of an epoch that was read to its end
};

}  // namespace heed
