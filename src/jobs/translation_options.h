#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/models/system.h"
#include "heed/train/loop.h"

namespace heed {

// How a translation model is trained. Flags, files of options, training.json and the help are all made from `visit`.
// The defaults that differ from model to model are set by plan_translation.
struct TranslationTraining {
  std::string model = "transformer", preset = "small", output;
  // Data. Several files are separated by commas.
  std::string source, target, tsv, valid_source, valid_target, alignments;
  std::string source_vocabulary, target_vocabulary, vocabulary = "unigram";
  Index vocabulary_size = 8000;
  bool joint_vocabulary = false;
  Index batch_words = 2048, batch_sentences = 0, longest_sentence = 100, buffer = 200'000;
  // Steps.
  std::string optimiser = "adam", schedule = "inverse-root";
  double learning_rate = 1e-3;
  Index warm_up = 400;
  double beta2 = 0.98, weight_decay = 0, clip_norm = 1, label_smoothing = 0.1;
  double smoothing = 0.998, alignment_weight = 0.1;
  Index delay = 1;
  // When something happens: "500" or "500u" updates, "2e" passes over the data, "0" never.
  std::string validate_every = "1e", save_every = "500u";
  Index show_every = 50, patience = 8, epochs = 0, steps = 0;
  double minutes = 0;
  std::string metrics = "bleu,cross-entropy";
  Index beam = 1;
  double length_penalty = 0.6;
  Index seed = 1, threads = 0, shards = 0;

  void visit(Fields& field);
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

struct TranslationPlan {
  TranslationTraining training;
  std::unique_ptr<Config> config;

  // All options, the model's own among them.
  void visit(Fields& field);
};

// The defaults of the given model and preset with the given options over them, later ones winning. Marian's names for
// options are understood. An unknown name is an OptionError with the nearest known one.
TranslationPlan plan_translation(const std::vector<GivenOption>& given);
// The options of training (not of the model) over those of an older run.
void change_training(TranslationTraining& training, const std::vector<GivenOption>& given);
// Marian's names and the ones they stand for here, for the help.
const std::vector<std::pair<std::string, std::string>>& marian_names();

// Contradictions, and files that are not there: an Error before anything is begun.
void check_training(const TranslationTraining& training);

Every parse_every(const std::string& text, const std::string& who);
std::vector<std::string> parse_list(const std::string& text);

}  // namespace heed
