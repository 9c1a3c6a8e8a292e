#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/explain/gold_share.h"
#include "heed/jobs/runner.h"
#include "heed/metrics/aer.h"
#include "heed/metrics/boundaries.h"

namespace heed {

// Samples with the right outputs, and the right word alignments if they are known: of labels the words that decide.
struct TestSet {
  std::vector<Sample> samples;
  std::vector<Samples::Place> places = {};       // of each sample; empty where they come from no file
  std::vector<AlignmentLinks> gold;              // as gold_share reads them; empty: not known
  std::vector<std::vector<GoldBox>> boxes = {};  // of the things that are named, in a picture; empty: not known
  std::vector<Transcript> gold_times = {};       // of sounds; empty: not known
  std::string report = {};                       // what was left out; empty if nothing was
};

// `gold` may be empty: Pharaoh's form, counted from `gold_first`; of a job that gives labels ERASER's lines, of one
// that reads images boxes of words, both in a file that ends with .jsonl; of sounds, by their names, a CTM in a file
// that ends with .ctm. Files of unequal length, or without a usable sample, are an Error.
TestSet read_test_set(const Job& job, const SampleFiles& files, const std::string& gold = "", Index gold_first = 0);

// What becomes of a sample whose right label the model does not know: an Error that names its place, or it counts as
// wrong and is left out of the cross-entropy.
enum class UnknownLabels { refuse, count };

// How a model that reads an image looks at its regions, over the words of the right outputs.
struct RegionLooks {
  double entropy = 0, uniform = 0;  // of a word's weights, in nats; and that of uniform ones
  double movement = 0;              // from one word to the next: the mean total variation, 0..1
};

struct Quality {
  std::vector<Result> outputs;                            // the best of each sample
  std::vector<std::pair<const Metric*, double>> metrics;  // of the job, in its order
  double cross_entropy = 0;                               // nats per piece of the right outputs, or per label
  std::optional<AlignmentCounts> alignment;               // with gold alignments, of words by a model with attention
  // Weight on the words of the gold alignments, or that decide; of images: in the gold boxes.
  std::optional<GoldShare> gold;
  std::optional<RegionLooks> regions;   // of images
  std::optional<BoundaryCounts> times;  // of sounds whose gold times are known
  std::optional<double> entropy;        // of a model that looks at a text: mean over the right outputs' words, in nats
  double samples_per_second = 0;        // of running
  Index unknown_labels = 0;             // samples whose right label the model does not know
};

// Alignments are measured where the model reads the right outputs, since gold alignments are about these.
Quality measure_quality(Runner& runner, const TestSet& test, const RunOptions& options = {},
                        UnknownLabels unknown = UnknownLabels::refuse);

// The mean over output words of the entropy, in nats, of where the model looked: the input's words, and the end, which
// has what is missing from a row.
double alignment_entropy(const WordAlignment& alignment);

}  // namespace heed
