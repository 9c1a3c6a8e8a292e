#include "heed/serve/model_shelf.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

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

// The log, locks and half-written files of a training are not of the model.
bool is_read(const std::filesystem::path& file) {
  static const std::set<std::string> kinds{".json", ".safetensors", ".spm", ".txt"};
  return kinds.contains(file.extension().string());
}

// Nothing of a folder that is not there.
FolderState state_of(const std::filesystem::path& folder) {
  FolderState state;
  std::error_code ended;
  for (std::filesystem::directory_iterator file(folder, ended), end; !ended && file != end; file.increment(ended)) {
    struct stat about {};
    if (!is_read(file->path()) || stat(file->path().c_str(), &about) != 0) continue;
    state[file->path().filename().string()] =
        fmt::format("{} {} {}.{:09}", about.st_ino, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
  }
  return state;
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
                  std::make_shared<const Bundle>(load_bundle(ModelFolder(source.folder), FolderWeights::verified, 1,
                                                             source.numbers, source.settings)),
                  threads) {}

ServedModel::ServedModel(const ModelSource& source, std::shared_ptr<const Bundle> bundle, int threads)
    : threads_(threads),
      bundle_(std::move(bundle)),
      runner_(make_runner(bundle_, source.name)),
      languages_(languages_of(source, *bundle_)),
      normalisers_(other_normalisers(*bundle_)) {}

std::shared_ptr<Runner> ServedModel::make_runner(std::shared_ptr<const Bundle> bundle, const std::string& name) const {
  return std::make_shared<Runner>(std::move(bundle), name, threads_, [](const std::string&) {});
}

std::shared_ptr<Runner> ServedModel::variant(const std::string& normaliser) {
  if (normaliser.empty() || normaliser == normaliser_of(*bundle_)) return runner_;
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(variants_.begin(), variants_.end(), [&](const auto& each) { return each.first == normaliser; });
  if (known != variants_.end()) return known->second;
  std::shared_ptr<const Bundle> changed;
  try {
    changed = with_normaliser(*bundle_, normaliser);
  } catch (const Error& error) {
    refuse(422, "normaliser: {}", error.what());
  }
  if (variants_.size() == kVariants) variants_.erase(variants_.begin());
  return variants_.emplace_back(normaliser, make_runner(std::move(changed), name())).second;
}

ModelShelf::ModelShelf(const std::vector<ModelSource>& sources, int threads)
    : sources_(sources),
      threads_(threads > 0 ? threads : thread_count()),
      models_(sources.size()),
      states_(sources.size()) {
  require(!sources.empty(), "there is no model to serve");
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (std::size_t before = 0; before < i; ++before)
      require(sources[before].name != sources[i].name, "two models have the name {}; give one another with NAME=FOLDER",
              sources[i].name);
  for (std::size_t i = 0; i < sources.size(); ++i) load(i);
}

// Files are replaced one by one, so what was read while some of them changed is read again.
void ModelShelf::load(std::size_t place) {
  // OpenMP keeps a team for each thread that ever asked for one, and sleeps between small ops instead of spinning when
  // the teams have more threads than there are processors. Those that count are of the threads that do the work.
  const OneThread loading;
  constexpr int kTries = 3;
  const std::filesystem::path& folder = sources_[place].folder;
  for (int tries = 1;; ++tries) {
    FolderState before = state_of(folder);
    try {
      models_[place] = std::make_shared<ServedModel>(sources_[place], threads_);
    } catch (const Error&) {
      if (tries == kTries || state_of(folder) == before) throw;
      continue;
    }
    const bool same = state_of(folder) == before;
    states_[place] = std::move(before);
    if (same || tries == kTries) return;
  }
}

std::shared_ptr<const ModelShelf> ModelShelf::renewed(const std::function<void(const std::string&)>& say) const {
  const auto shelf = std::make_shared<ModelShelf>(*this);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const ModelSource& source = sources_[i];
    try {
      if (state_of(source.folder) == states_[i]) {
        say(fmt::format("{}: its folder has not changed", source.name));
        continue;
      }
      shelf->load(i);
      say(fmt::format("{}: loaded again from {}", source.name, source.folder.string()));
    } catch (const std::exception& error) {
      shelf->models_[i] = models_[i];
      shelf->states_[i] = states_[i];
      say(fmt::format("{}: stays as it is: {}", source.name, error.what()));
    }
  }
  return shelf;
}

ModelShelf::Model ModelShelf::named(const std::string& name) const {
  if (name.empty()) return models_.front();
  std::vector<std::string> known;
  for (const auto& model : models_) {
    if (model->name() == name) return model;
    known.push_back(model->name());
  }
  refuse(404, "there is no model {}{}", name.substr(0, 80), did_you_mean(name.substr(0, 80), known));
}

std::vector<ModelShelf::Model> ModelShelf::of_job(const Job& job) const {
  std::vector<Model> list;
  for (const auto& model : models_)
    if (model->bundle().job == &job) list.push_back(model);
  return list;
}

ModelShelf::Model ModelShelf::named_of_job(const Job& job, const std::string& name) const {
  const std::vector<Model> list = of_job(job);
  if (list.empty()) refuse(404, "no model here is for {}; GET /models lists those there are", job.name);
  if (name.empty()) return list.front();
  Model model = named(name);
  if (model->bundle().job != &job)
    refuse(400, "{} is for {}, not for {}", model->name(), model->bundle().job->name, job.name);
  return model;
}

}  // namespace heed
