#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "heed/jobs/runner.h"

namespace heed {

// A model folder and the name under which clients know it.
struct ModelSource {
  std::string name;
  std::filesystem::path folder;
  std::vector<std::string> languages = {};  // of what is read and of what is written; empty: as the model itself says
  Numbers numbers = Numbers::stored;
  RunSettings settings = {};  // in place of the folder's
};
// "name=folder", or a folder whose own name is taken. An Error if that gives no name that fits into a path and a log.
ModelSource model_source(const std::string& argument);

// One loaded model, for any job. All members may be called from any thread.
class ServedModel {
 public:
  ServedModel(const ModelSource& source, int threads);
  // Of a model that is loaded already; the source's folder is not looked at.
  ServedModel(const ModelSource& source, std::shared_ptr<const Bundle> bundle, int threads);

  const std::string& name() const { return runner_->name(); }
  const Bundle& bundle() const { return *bundle_; }
  // Of what is read and of what is written: those that were given, that the model was trained with, or that it is named
  // for ("en-de"). Empty: nobody knows.
  const std::vector<std::string>& languages() const { return languages_; }
  // Every attention that a trace can have, without weights.
  std::vector<TraceAttention> attentions() const { return runner_->attentions(); }
  // That can take the place of the trained one.
  const std::vector<std::string>& normalisers() const { return normalisers_; }

  Runner& runner() { return *runner_; }
  // The model with another normaliser, or as it is if the name is empty or its own; 422 if that cannot be. The newest
  // few are kept.
  std::shared_ptr<Runner> variant(const std::string& normaliser);

 private:
  std::shared_ptr<Runner> make_runner(std::shared_ptr<const Bundle> bundle, const std::string& name) const;

  int threads_;
  std::shared_ptr<const Bundle> bundle_;
  std::shared_ptr<Runner> runner_;
  std::vector<std::string> languages_, normalisers_;
  std::mutex mutex_;                                                       // guards what follows
  std::vector<std::pair<std::string, std::shared_ptr<Runner>>> variants_;  // newest last
};

// The files of a model folder that are read when it is loaded, each with what changes when it is written again.
using FolderState = std::map<std::string, std::string>;

// Every model that is served, in the order given. Loading faults are Errors that name the folder. A shelf does not
// change; whoever works with a model keeps it alive.
class ModelShelf {
 public:
  ModelShelf(const std::vector<ModelSource>& sources, int threads);

  // The shelf with those models loaded again whose folders have changed, all others the same. A model that cannot be
  // loaded stays as it is. `say` is told of each.
  std::shared_ptr<const ModelShelf> renewed(const std::function<void(const std::string&)>& say) const;

  using Model = std::shared_ptr<ServedModel>;
  const std::vector<Model>& models() const { return models_; }
  // The first if the name is empty; 404 if there is none of that name.
  Model named(const std::string& name) const;
  // All models of the job, in order.
  std::vector<Model> of_job(const Job& job) const;
  // The same as `named` among those of the job; 400 if the model is for another one.
  Model named_of_job(const Job& job, const std::string& name) const;

 private:
  void load(std::size_t place);

  std::vector<ModelSource> sources_;
  int threads_;
  std::vector<Model> models_;
  std::vector<FolderState> states_;
};

}  // namespace heed
