#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/trace/trace.h"
#include "heed/jobs/translator.h"

namespace heed {

// A model folder and the name under which clients know it.
struct ModelSource {
  std::string name;
  std::filesystem::path folder;
};
// "name=folder", or a folder whose own name is taken. An Error if that gives no name that fits into a path and a log.
ModelSource model_source(const std::string& argument);

// The same model with another normaliser in its attention: parts without parameters are exchanged, the weights stay. An
// Error says why that cannot be: the model has no such part, there is no such normaliser, or the weights do not fit.
std::shared_ptr<const TranslationBundle> with_normaliser(const TranslationBundle& bundle, const std::string& name);

// "additive × global × softmax"; empty for a model whose attention is not composed by its configuration.
std::string attention_of(const TranslationBundle& bundle);

// One loaded model.
class ServedModel {
 public:
  ServedModel(const ModelSource& source, int threads);

  const std::string& name() const { return name_; }
  const std::shared_ptr<const TranslationBundle>& bundle() const { return bundle_; }
  // Of a model that is named "en-de"; empty for others.
  const std::string& source_language() const { return source_language_; }
  const std::string& target_language() const { return target_language_; }
  // Every attention that a trace of it can have, of a sentence without words.
  const std::vector<TraceAttention>& attentions() const { return attentions_; }

  // Only for the thread that works on batches.
  Translator& translator() { return translator_; }
  // With another normaliser, or as it is if the name is empty or its own. The newest few are kept.
  std::shared_ptr<const TranslationBundle> variant(const std::string& normaliser);

 private:
  std::string name_, source_language_, target_language_;
  std::shared_ptr<const TranslationBundle> bundle_;
  std::vector<TraceAttention> attentions_;
  Translator translator_;
  std::vector<std::pair<std::string, std::shared_ptr<const TranslationBundle>>> variants_;  // newest last
};

// Every model that is served, in the order given. Loading faults are Errors that name the folder.
class ModelShelf {
 public:
  ModelShelf(const std::vector<ModelSource>& sources, int threads);

  const std::vector<std::unique_ptr<ServedModel>>& models() const { return models_; }
  // The first if the name is empty; 404 if there is none of that name.
  ServedModel& named(const std::string& name) const;
  // By languages: the first that is named for them. Where no model is named for languages, the first of all; where some
  // are but none fits, 400.
  ServedModel& between(const std::string& source, const std::string& target) const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

}  // namespace heed
