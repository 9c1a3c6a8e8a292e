#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/base/real.h"
#include "heed/data/eraser.h"

namespace heed {

// A sample that was made up, with what decides its label.
struct GoldExample {
  std::string label;
  std::vector<std::string> texts;  // what stands behind the label; words with single spaces between
  // Which words decide, all of them together; the docid is the number of the text, "0" or "1".
  std::vector<EraserEvidence> evidences = {};
  std::string links = {};  // of pairs: Pharaoh's, first text first
};

struct LabelledCorpusOptions {
  std::filesystem::path folder = {};      // made if it is not there
  std::vector<std::string> columns = {};  // names of the texts, for documents of the gold lines
  double valid = 0.02, test = 0.02;       // shares of the samples
  std::uint64_t seed = 1;                 // decides what goes where
  bool force = false;                     // files that are there may be replaced
};

struct LabelledCorpusCounts {
  Index train = 0, valid = 0, test = 0;
};

// train.tsv, valid.tsv and test.tsv of lines "label<TAB>text…"; beside the test, line by line with it, what decides:
// test.gold.jsonl (eraser.h), and test.links where the examples have links. A hash of the first text decides where a
// sample goes, so no two parts share one. All files appear when all are written; one that would be replaced without
// `force`, or nothing to train on, is an Error.
LabelledCorpusCounts write_labelled_corpus(const LabelledCorpusOptions& options, std::span<const GoldExample> examples);

}  // namespace heed
