#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/data/sample.h"
#include "heed/data/samples.h"
#include "heed/metrics/bootstrap.h"
#include "heed/models/system.h"

// A job is a declaration: what is read, what is given, how it is measured. One file registers it, and the command line,
// the server, Python and the page find it here; none of them knows a job by name.

namespace heed {

// An input of a job, or what it gives. The name becomes that of a column, of a flag, of a tensor and of a trace's axis.
struct JobSide {
  std::string name;
  Kind kind = Kind::text;
  std::string help = {};               // of its flag: "source sentences"
  std::vector<std::string> also = {};  // other names of its column in files: "sentence1"
  std::string unlabelled = {};         // of a label: what files say where nobody knows it: "-"
  bool blank = false;                  // of a question: it has one blank (data/blank.h)
};

// How good outputs are, over a whole set.
struct Metric {
  std::string name;   // as --metrics names it: "bleu"
  std::string title;  // in tables: "BLEU"
  bool higher_is_better = true;
  int digits = 2;  // behind the point, in tables
  // The best output of each sample against the sample's own.
  std::function<double(std::span<const std::string> outputs, std::span<const Sample> samples)> measure;
  // The same for any choice of the samples; with it the metric has intervals.
  std::function<ScoreOfSamples(std::span<const std::string> outputs, std::span<const Sample> samples)> by_samples = {};
};

// A corpus that needs nothing, and the small training on it that `heed demo` shows.
struct JobDemo {
  // Writes the corpus into the folder and gives a line about it.
  std::function<std::string(const std::filesystem::path& folder, Index samples, std::uint64_t seed)> write_corpus;
  // The files of such a folder.
  struct Corpus {
    SampleFiles train, valid, test;
    std::string gold;  // right alignments of the test; may be empty
  };
  std::function<Corpus(const std::filesystem::path& folder)> files;
  Index samples = 20'000, steps = 1500;
  std::vector<std::pair<std::string, std::string>> options;  // of the training
  Index longest = 0;             // pieces of a text, with the end, for attentions that need to know it
  Index most_words = 12;         // of a text that is drawn as a matrix, which must be narrow enough for a terminal
  std::string noun = "samples";  // "412 unseen sentences"
  std::string about;             // what is drawn: "where the model looked for each word that it wrote"
  std::string next;              // a command to try; {} is the model's folder
  bool report = false;           // the job's report is shown too
};

struct Job {
  std::string name;                         // "translation"
  std::string verb;                         // of the command line: "translate"
  std::vector<std::string> spellings = {};  // of the verb, besides
  std::string summary;                      // one line: what the verb does
  std::vector<JobSide> inputs;
  JobSide output;
  std::vector<std::string> columns;       // the order of a file whose columns have no names
  std::vector<Metric> metrics = {};       // the first decides which weights are best; cross-entropy is always there
  std::string system;                     // the default
  std::vector<std::string> example = {};  // a text per input, for help and documentation
  std::vector<std::pair<std::string, std::string>> training = {};  // its own defaults of the options of training
  std::optional<JobDemo> demo = {};
  // What `heed evaluate --data` prints below its table; empty: nothing.
  std::function<std::string(std::span<const std::string> outputs, std::span<const Sample> samples)> report = {};
  // What `heed evaluate --results` writes: the outputs for the samples of the files in the form that the field's own
  // tool reads; empty: there is none.
  std::function<std::string(std::span<const std::string> outputs, std::span<const Sample> samples,
                            const SampleFiles& files)>
      results = {};
  // A folder or a trace that names no job is of this one, and `heed demo` without a word shows it.
  bool is_default = false;

  bool gives_label() const { return output.kind == Kind::label; }
  bool gives_choice() const { return output.kind == Kind::choice; }
  bool chooses() const { return is_chosen(output.kind); }  // otherwise it writes
  // The columns of a file in their order, with their kinds.
  std::vector<SampleColumn> sample_columns() const;
  // The inputs, then the output.
  std::vector<const JobSide*> sides() const;
  // An Error with the nearest known name if there is none.
  const Metric& metric_named(const std::string& name) const;
};

// All jobs by name.
const std::vector<Job>& jobs();
const Job& job_named(const std::string& name);  // an Error with the nearest known name; empty: the default
const Job& default_job();
// By its verb or a spelling of it; nothing if there is none.
const Job* job_of_verb(const std::string& verb);
// Systems that read and give what the job does: those published for it, and those of jobs of the same kinds.
std::vector<const System*> systems_of(const Job& job);

struct RegisterJob {
  explicit RegisterJob(Job job);
};

}  // namespace heed
