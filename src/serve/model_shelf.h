#pragma once

#include <filesystem>
#include <memory>
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
};
// "name=folder", or a folder whose own name is taken. An Error if that gives no name that fits into a path and a log.
ModelSource model_source(const std::string& argument);

// One loaded model, for any job.
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

  // Only for the thread that works on batches.
  Runner& runner() { return *runner_; }
  // The model with another normaliser, or as it is if the name is empty or its own; 422 if that cannot be. The newest
  // few are kept.
  Runner& variant(const std::string& normaliser);

 private:
  std::unique_ptr<Runner> make_runner(std::shared_ptr<const Bundle> bundle, const std::string& name) const;

  int threads_;
  std::shared_ptr<const Bundle> bundle_;
  std::unique_ptr<Runner> runner_;
  std::vector<std::string> languages_, normalisers_;
  std::vector<std::pair<std::string, std::unique_ptr<Runner>>> variants_;  // newest last
};

// Every model that is served, in the order given. Loading faults are Errors that name the folder.
class ModelShelf {
 public:
  ModelShelf(const std::vector<ModelSource>& sources, int threads);

  const std::vector<std::unique_ptr<ServedModel>>& models() const { return models_; }
  // The first if the name is empty; 404 if there is none of that name.
  ServedModel& named(const std::string& name) const;
  // All models of the job, in order.
  std::vector<ServedModel*> of_job(const Job& job) const;
  // The same as `named` among those of the job; 400 if the model is for another one.
  ServedModel& named_of_job(const Job& job, const std::string& name) const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

}  // namespace heed
