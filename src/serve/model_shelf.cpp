#include "heed/serve/model_shelf.h"

#include <algorithm>

#include "heed/base/one_thread.h"
#include "heed/base/spelling.h"
#include "heed/jobs/variant.h"
#include "heed/serve/http.h"

namespace heed {
namespace {

constexpr std::size_t kVariants = 4;  // each has a copy of the weights

std::vector<std::string> languages_of(const ModelSource& source, const Bundle& bundle) {
  if (!source.languages.empty()) return source.languages;
  return bundle.languages.empty() ? split_languages(source.name) : bundle.languages;
}

}  // namespace

ModelSource model_source(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  ModelSource source;
  if (equals == std::string::npos) {
    source.folder = argument;
    source.name = name_of_folder(source.folder);
    if (source.name == "." || source.name == "..")
      source.name = std::filesystem::weakly_canonical(source.folder).filename().string();
  } else {
    source.name = argument.substr(0, equals);
    source.folder = argument.substr(equals + 1);
  }
  const bool plain = std::all_of(source.name.begin(), source.name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
  require(!source.name.empty() && plain,
          "{}: a model's name may have letters, digits, '-', '_' and '.'; give it one with NAME=FOLDER", argument);
  return source;
}

ServedModel::ServedModel(const ModelSource& source, int threads)
    : ServedModel(source,
                  std::make_shared<const Bundle>(load_bundle(ModelFolder(source.folder), FolderWeights::trained)),
                  threads) {}

ServedModel::ServedModel(const ModelSource& source, std::shared_ptr<const Bundle> bundle, int threads)
    : threads_(threads),
      bundle_(std::move(bundle)),
      runner_(make_runner(bundle_, source.name)),
      languages_(languages_of(source, *bundle_)),
      normalisers_(other_normalisers(*bundle_)) {}

std::unique_ptr<Runner> ServedModel::make_runner(std::shared_ptr<const Bundle> bundle, const std::string& name) const {
  return std::make_unique<Runner>(std::move(bundle), name, threads_, [](const std::string&) {});
}

Runner& ServedModel::variant(const std::string& normaliser) {
  if (normaliser.empty() || normaliser == normaliser_of(*bundle_)) return *runner_;
  const auto known =
      std::find_if(variants_.begin(), variants_.end(), [&](const auto& each) { return each.first == normaliser; });
  if (known != variants_.end()) return *known->second;
  std::shared_ptr<const Bundle> changed;
  try {
    changed = with_normaliser(*bundle_, normaliser);
  } catch (const Error& error) {
    refuse(422, "normaliser: {}", error.what());
  }
  if (variants_.size() == kVariants) variants_.erase(variants_.begin());
  return *variants_.emplace_back(normaliser, make_runner(std::move(changed), name())).second;
}

ModelShelf::ModelShelf(const std::vector<ModelSource>& sources, int threads) {
  // OpenMP keeps a team for each thread that ever asked for one, and sleeps between small ops instead of spinning when
  // the teams have more threads than there are processors. The one that counts is that of the thread that does the
  // work.
  const int workers = threads > 0 ? threads : thread_count();
  const OneThread loading;
  require(!sources.empty(), "there is no model to serve");
  for (const ModelSource& source : sources) {
    for (const auto& model : models_)
      require(model->name() != source.name, "two models have the name {}; give one another with NAME=FOLDER",
              source.name);
    models_.push_back(std::make_unique<ServedModel>(source, workers));
  }
}

ServedModel& ModelShelf::named(const std::string& name) const {
  if (name.empty()) return *models_.front();
  std::vector<std::string> known;
  for (const auto& model : models_) {
    if (model->name() == name) return *model;
    known.push_back(model->name());
  }
  refuse(404, "there is no model {}{}", name.substr(0, 80), did_you_mean(name.substr(0, 80), known));
}

std::vector<ServedModel*> ModelShelf::of_job(const Job& job) const {
  std::vector<ServedModel*> list;
  for (const auto& model : models_)
    if (model->bundle().job == &job) list.push_back(model.get());
  return list;
}

ServedModel& ModelShelf::named_of_job(const Job& job, const std::string& name) const {
  const std::vector<ServedModel*> list = of_job(job);
  if (list.empty()) refuse(404, "no model here is for {}; GET /models lists those there are", job.name);
  if (name.empty()) return *list.front();
  ServedModel& model = named(name);
  if (model.bundle().job != &job)
    refuse(400, "{} is for {}, not for {}", model.name(), model.bundle().job->name, job.name);
  return model;
}

}  // namespace heed
