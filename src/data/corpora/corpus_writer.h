#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "heed/base/real.h"

namespace heed {

struct CorpusOptions {
  std::filesystem::path folder;              // made if it is not there
  std::string source = "en", target = "fr";  // the endings: train.en, train.fr, …
  double valid = 0.02, test = 0.02;          // shares of the segments
  std::uint64_t seed = 1;                    // decides what goes where
  bool alignments = false;                   // train.align, … beside
  bool force = false;                        // files that are there may be replaced
};

struct CorpusCounts {
  Index train = 0, valid = 0, test = 0;
  Index repeated = 0;   // the source was there before
  Index identical = 0;  // both sides are the same: nothing is translated
  Index unusable = 0;   // a side is empty, without a letter, not UTF-8 or longer than kLongestSegment
  std::string text() const;
};

// A parallel corpus in a folder: no source segment is there twice, and a hash of it decides whether it is for training,
// validation or the test, so that no two parts share one. The files appear when all of it is written.
class CorpusWriter {
 public:
  static constexpr std::size_t kLongestSegment = 2000;  // bytes

  // Files that would be replaced without `force` are an Error, before any work is done.
  explicit CorpusWriter(CorpusOptions options);
  ~CorpusWriter();

  // White space within a side becomes single spaces. `links` is for corpora with alignments.
  void add(std::string_view source, std::string_view target, std::string_view links = {});
  const CorpusCounts& counts() const;
  // A corpus with nothing to train on is an Error, and leaves no files.
  const CorpusCounts& finish();

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

}  // namespace heed
