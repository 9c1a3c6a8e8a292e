#pragma once

#include <string>
#include <vector>

#include "heed/align/aligner.h"
#include "heed/align/read_bitext.h"

namespace CLI {
class App;
}

namespace heed::cli {

// What every command that aligns is told: the pairs of sentences, and how they are aligned.
struct AlignFlags {
  std::vector<std::string> files = {};
  std::string join = "grow-diag-final-and";
  Index longest = 200;
  AlignerOptions aligner = {};
  bool lowercase = false, allow_bad_lines = false;
  int threads = 0;

  void add(CLI::App& command);
  // A text as numbers. What is left out is told on the standard error.
  Bitext read(const SampleFiles& samples, BitextReading& reading) const;
  // The pairs of `files`.
  Bitext read(BitextReading& reading) const { return read(bitext_files(files, allow_bad_lines), reading); }
  // With a bar.
  BothAlignments align(const Bitext& learnt, const Bitext& aligned) const;
};

// --gold-first, of every command that takes gold alignments.
void add_gold_first(CLI::App& command, Index& first);

}  // namespace heed::cli
