#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/nn/parameters.h"
#include "heed/store/checkpoint.h"
#include "heed/store/folder_digests.h"
#include "heed/store/parameters_file.h"

namespace heed {

// A trained model, or one in training, as a folder:
//   config.json             the format's version, the model's name, its job, every field of its configuration
//   source.spm, ...         what turns text into ids, named by its maker
//   model.safetensors       the best weights so far
//   training.json           how it was made, and its scores
//   data.json               what it was trained on (jobs/training_data.h)
//   extractive.json, reranking.ngrams    what was tuned afterwards, if anything was (jobs/tuning.h)
//   checkpoint/             where training stands; train.jsonl, curve.svg: its log
//   digests.json            what the files above it hold, but for the log and its picture (store/folder_digests.h)
// Nothing in it is executed.
//
// A process may be killed at any moment. The configuration and the vocabularies are written into a new folder that
// takes its name when it is whole, and never change afterwards; the weights, the log and the checkpoint are single
// files that are each replaced by a rename. Weights are written before the checkpoint that knows of them: after a kill
// between the two, resuming repeats the same steps and writes the same weights again. So what stands in a folder
// always fits together.
class ModelFolder {
 public:
  struct File {
    std::string name, bytes;
  };
  struct Names {
    std::string model;
    std::string job = {};  // what it is for; older folders do not say it
  };
  // A new folder. One that exists and is not empty is an Error, unless `replace` is set and it is a model folder that
  // no training holds, which then gives way in one moment. `prepare` is given the folder while it has another name yet:
  // a lock that is taken there is held from the first moment on.
  using Prepare = std::function<void(const std::filesystem::path&)>;
  static ModelFolder create(const std::filesystem::path& path, const Names& names, const VisitFields& config,
                            const std::vector<File>& files, bool replace, const Prepare& prepare = {});
  // An Error names the file that is missing, damaged or of another version.
  explicit ModelFolder(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& model() const { return names_.model; }
  const std::string& job() const { return names_.job; }
  // Sets every field from config.json. A field that is missing or unknown there is an Error, as is a whole number
  // beyond 32 bits: sizes are multiplied before they are compared with what there is. Fields that came `later` than the
  // first folders of a model may be missing, and stay as they are.
  void read_config(const VisitFields& config, std::span<const std::string> later = {}) const;

  // The file that begins with "side." and is a vocabulary ("source.spm"); an Error if there is none.
  std::filesystem::path vocabulary(const std::string& side) const;
  std::filesystem::path weights() const { return path_ / "model.safetensors"; }
  std::filesystem::path checkpoint() const { return path_ / "checkpoint" / "training.safetensors"; }
  std::filesystem::path training() const { return path_ / "training.json"; }
  std::filesystem::path log() const { return path_ / "train.jsonl"; }

  bool has_weights() const { return std::filesystem::exists(weights()); }
  bool has_checkpoint() const { return std::filesystem::exists(checkpoint()); }
  // These replace a file and its digest.
  void save_weights(const Parameters& parameters) const;
  void save_checkpoint(const Checkpoint& checkpoint) const;
  void save_text(const std::string& name, const std::string& text) const;
  // An Error names a file that is not what was written, as far as digests are there. Weights, which are mapped and read
  // when they are used, are looked at on request only: reading them takes longer than a start. Only who goes on with a
  // training needs the checkpoint.
  enum class Verify { without_tensors, model, all };
  void verify(Verify what) const;
  FolderDigests digests() const { return FolderDigests(path_); }
  // For the parameters of a model. An Error that says so if training has not come so far.
  ParametersFile stored_weights() const;
  // Removes what killed processes left half written. Only while nobody else writes there.
  void remove_partial_files() const;

 private:
  std::filesystem::path path_;
  Names names_;
  std::map<std::string, std::string> config_;  // fields as text
};

// Whether there is something at the path that ModelFolder could open.
bool is_model_folder(const std::filesystem::path& path);

}  // namespace heed
