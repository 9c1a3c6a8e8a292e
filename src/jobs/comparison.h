#pragma once

#include <map>

#include "heed/jobs/quality.h"
#include "heed/jobs/training.h"

namespace heed {

// Several systems for one job on one corpus, with the same vocabularies, seed and budget.
struct ComparisonOptions {
  std::vector<std::string> systems;   // "rnnsearch", "luong:window=local-p,dropout=0.1": a model and its options
  std::vector<GivenOption> training;  // for all of them
  std::filesystem::path output;       // a folder; each system's model goes into one of its own in there
  // Of the test: tables, or files of lines by the name of their column. Nothing: the samples of validation.
  std::string test;
  std::map<std::string, std::string> test_lines;
  std::string gold;      // alignments of the test; empty: none
  Index gold_first = 0;  // what their first word is counted as
  bool replace = false;  // a system that is there, but was trained otherwise
};

struct ComparedSystem {
  std::string name;  // as it was asked for
  std::filesystem::path folder;
  Index parameters = 0, steps = 0;
  std::size_t peak_bytes = 0;  // of training
  TrainingHistory history;
  Quality quality;
};

struct Comparison {
  std::vector<ComparedSystem> systems;
  std::string metric;  // of validation, that decided which weights are best
  int signal = 0;      // that stopped it; the systems are then those that were finished
};

// Trains the systems one after another, each into its folder; one that is finished there stays as it is, one that was
// stopped goes on. What is wrong with any of them is an Error before the first begins.
Comparison compare_systems(const ComparisonOptions& options, const Say& say);

// The comparison as a table of Markdown, readable in a terminal too.
std::string comparison_table(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

}  // namespace heed
