#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/data/sample_batches.h"
#include "heed/data/vocabulary.h"
#include "heed/jobs/choices.h"
#include "heed/jobs/job.h"
#include "heed/jobs/reranking.h"
#include "heed/search/extractive.h"
#include "heed/store/model_folder.h"

namespace heed {

// What turns the sides of samples into numbers and back.
struct Codes {
  std::vector<std::shared_ptr<const Vocabulary>> inputs;  // of each input; empty of images and sounds
  std::vector<std::shared_ptr<const Sense>> senses;       // of each input; empty of texts
  std::shared_ptr<const Vocabulary> output;               // of words
  std::vector<std::string> labels;                        // of labels; choices need neither
};

// Everything of one model that is needed to run it.
struct Bundle {
  const Job* job = nullptr;
  const System* system = nullptr;
  std::unique_ptr<Config> config;
  Codes codes;
  std::unique_ptr<Parameters> parameters;
  std::unique_ptr<Model> model;
  const Writer* writer = nullptr;    // the model, if it writes;
  const Chooser* chooser = nullptr;  // or if it chooses
  // What words that stand in the text get in a search, as tune_extractive found it; 0: it has not been tuned.
  ExtractiveValues extractive = {};
  // What chooses among the best answers of a reader anew; nothing: it has not been tuned.
  std::shared_ptr<const Reranking> reranking = {};
  // How its maker wants it to be shown.
  std::vector<std::string> example = {};    // a text per input, from its validation; may be empty
  std::vector<std::string> languages = {};  // of what is read and of what is written; may be empty
  Index longest = 0;                        // pieces of the longest texts that its training took; 0: not known
  bool unlinked_at_end = false;             // words without a link were guided to the end of its input
  bool choices_given = false;               // every sample of its validation came with choices of its own

  // A side's value as the model reads it. An image or a sound that cannot be taken in is an UnreadableInput.
  EncodedInput encode_input(std::size_t input, const Value& value) const;
  Featured sense_input(std::size_t input, const Value& value) const;
  // With its outputs. A label that the model does not know is an Error, an answer that is no choice an UnreadableInput.
  EncodedSample encode(const Sample& sample) const;
  // The same for a training, which holds many: what is bulky (Sense::bulky) is left for the batches to make.
  // The bundle outlives it, and stays where it is.
  EncodedSample encode_for_training(const Sample& sample) const;
  // What can be written for a sample: the output's words, and those of its text that only copying knows.
  const Vocabulary& output_words(const EncodedSample& sample) const;
  std::int32_t label_number(const std::string& label) const;
  // What can be chosen: every label, or the choices of the sample, whose encoded inputs are marked with them.
  std::vector<Choice> choose_from(const Sample& sample, EncodedSample& encoded) const;
};

// A new one, its weights drawn or given. The config's sizes are filled in.
Bundle make_bundle(const Job& job, const System& system, std::unique_ptr<Config> config, Codes codes,
                   std::uint64_t seed, const GivenValues& given = {});
// The sense of an input as the configuration says, before it learns or recalls anything; nothing for a text.
std::unique_ptr<Sense> make_sense(const Job& job, const System& system, const Config& config, std::size_t input);
// Its folder: configuration, vocabularies, labels and what its senses know, and the other files given.
ModelFolder create_folder(const std::filesystem::path& path, const Bundle& bundle,
                          std::vector<ModelFolder::File> others, bool replace,
                          const ModelFolder::Prepare& prepare = {});
// From a folder: with the trained weights, to be run; the same after they too were read and are what was written; or
// with those of its checkpoint, or drawn anew before there is one, to be trained, verified as well. A vocabulary of
// another size than the model's is an Error.
enum class FolderWeights { trained, verified, fresh };
// How trained weights are held: as the folder has them, or rounded to eight bits where products can be
// (nn/parameters.h).
enum class Numbers { stored, int8 };
// Fields of the configuration, and what they are in place of what the folder says: "window", "median". Those that the
// system does not let a run set (System::running) are an Error.
using RunSettings = std::vector<std::pair<std::string, std::string>>;
Bundle load_bundle(const ModelFolder& folder, FolderWeights weights, std::uint64_t seed = 1,
                   Numbers numbers = Numbers::stored, const RunSettings& settings = {});

// Where each sentence of a text ends among its pieces, which stand at `places`: each end is larger than the one before,
// and the last is their number.
std::vector<std::int32_t> sentence_ends_in(std::string_view text, std::span<const TextPlace> places);

// The two codes of "en-de"; none if it is not of that form.
std::vector<std::string> split_languages(const std::string& text);

// The name under which the model of a folder is known: "my-model" of "runs/my-model/".
std::string name_of_folder(const std::filesystem::path& folder);

}  // namespace heed
