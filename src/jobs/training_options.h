#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/jobs/job.h"
#include "heed/train/loop.h"

namespace heed {

// How a model is trained. Flags, files of options, training.json and the help are all made from `visit`. What differs
// from job to job or from system to system is declared there and set by plan_training.
struct Training {
  std::string job, model, preset = "small", from, output;
  // Data. Several files are separated by commas.
  std::string data, valid, format, columns, images, alignments, languages, dictionary;
  std::string digest = "sampled";
  bool allow_bad_lines = false;
  // Of each of the job's sides, in the order of Job::sides.
  struct Side {
    const JobSide* side = nullptr;
    std::string files, valid;  // of lines, instead of `data` and `valid`
    std::string vocabulary;    // a file instead of a learnt one
  };
  std::vector<Side> sides;
  std::string vocabulary = "unigram";
  Index vocabulary_size = 8000;
  bool joint_vocabulary = false;
  std::string vectors, vectors_words = "seen", encoder, features;
  bool cut_texts = false;
  Index batch_words = 2048, batch_samples = 0, longest = 100, buffer = 200'000;
  // Steps.
  std::string optimiser = "adam", schedule = "inverse-root";
  double learning_rate = 1e-3;
  Index warm_up = 400;
  double beta2 = 0.98, weight_decay = 0, clip_norm = 1, max_norm = 0, weight_noise = 0, label_smoothing = 0.1;
  double smoothing = 0.998, alignment_weight = 0.1;
  bool alignment_end = false;
  std::string reward;
  Index draws = 5;
  bool lazy = false;
  Index delay = 1;
  // When something happens: "500" or "500u" updates, "2e" passes over the data, "0" never.
  std::string validate_every = "1e", save_every = "500u";
  Index show_every = 50, patience = 8, epochs = 0, steps = 0;
  double minutes = 0;
  std::string metrics;
  Index beam = 1;
  double length_penalty = 0.6;
  Index seed = 1, threads = 0, shards = 0;
  // Between ranks.
  std::string wire = "full";
  double rank_timeout = 300;

  explicit Training(const Job& job);
  void visit(Fields& field);

  const Job& declared_job() const { return job_named(job); }
  bool validates() const;
  // Every option that names files to be read, with its files.
  struct FilesOfOption {
    std::string option;
    std::vector<std::string> files;
  };
  std::vector<FilesOfOption> files() const;
  // The files of training or validation as they are read: those of --data, or one of lines for each column.
  SampleFiles training_files() const;
  SampleFiles validation_files() const;
  // The metrics asked for, by name; the first decides.
  std::vector<std::string> metric_names() const;
};

// A misspelt or misused option, rather than something wrong with what it says.
class OptionError : public Error {
 public:
  using Error::Error;
};

// One option as it was written; `who` leads messages about it ("--beam", "my.yaml"). In names - and _ are the same.
struct GivenOption {
  std::string name, text, who;
};

struct TrainingPlan {
  Training training;
  std::unique_ptr<Config> config;

  // All options, the model's own among them.
  void visit(Fields& field);
};

// The defaults of the given job, model and preset with the given options over them, later ones winning. The job is the
// one named by --job, or the one that the model was published for; both are those of the model that --from names, and
// its own options are the model's defaults then. Marian's names for options are understood. An unknown name is an
// OptionError with the nearest known one.
TrainingPlan plan_training(const std::vector<GivenOption>& given);
// The options of training (not of the model) over those of an older run. An option of the model is an OptionError that
// says so.
void change_training(Training& training, const std::vector<GivenOption>& given);
// An option from an older run's file; false if there is no such option.
bool set_training_field(Training& training, const std::string& name, const std::string& text, const std::string& who);
// Other names of options and the ones they stand for, Marian's among them, for the help.
const std::vector<std::pair<std::string, std::string>>& other_names();
// Options of every job, each once, for the help.
std::vector<FieldDescription> describe_training();

// An Error names the option and the nearest value that is known, unless this one is.
void require_known_value(const std::string& option, const std::string& value, const std::vector<std::string>& known);
// Contradictions, and files that are not there: an Error before anything is begun.
void check_training(const Training& training);

Every parse_every(const std::string& text, const std::string& who);
std::vector<std::string> parse_list(const std::string& text);

}  // namespace heed
