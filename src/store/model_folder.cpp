#include "heed/store/model_folder.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json-inl.h"
#include "heed/base/spelling.h"
#include "heed/store/fields_file.h"
#include "heed/store/folder_lock.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kConfig = "config.json";
constexpr const char* kVocabularies[] = {".spm", ".vocab.txt", ".tokens.txt", ".letters.txt"};

// "my-model/" and "my-model" are the same folder, and only the latter has a name.
fs::path without_slash(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

// A folder beside `path` that disappears unless it is kept.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& path) {
    std::random_device random;
    path_ = path;
    path_ += fmt::format(".{:08x}.partial", random());
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    if (!error) fs::create_directory(path_, error);
    require(!error, "{}: cannot make the folder: {}", path.string(), error.message());
  }
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  const fs::path& path() const { return path_; }

  // Takes the place of `target`. What was there goes away with this object; without `replace` there must be nothing.
  void move_to(const fs::path& target, bool replace) const {
    const auto rename = [](const fs::path& from, const fs::path& to) {
      return ::rename(from.c_str(), to.c_str()) == 0;
    };
    if (rename(path_, target)) return;  // nothing there, or an empty folder
    require(replace, "{}: there is something already, which was not there before: {}", target.string(),
            std::generic_category().message(errno));
    // The lock is taken before names change: whoever trains in the old folder writes to it by its name.
    const FolderLock old(target);
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return;
    // A file system that cannot exchange names: the old folder steps aside.
    fs::path aside = path_;
    aside += ".old";
    require(rename(target, aside) && rename(path_, target), "{}: cannot rename the finished folder to it: {}",
            target.string(), std::generic_category().message(errno));
    std::error_code ignored;
    fs::remove_all(aside, ignored);
  }

 private:
  fs::path path_;
};

class CheckSizes final : public Fields {
 public:
  explicit CheckSizes(std::string file) : file_(std::move(file)) {}
  void operator()(const char* name, Index& value, const char*) override {
    require(value == static_cast<std::int32_t>(value), "{}: {} cannot be {}", file_, name, value);
  }
  void operator()(const char*, double&, const char*) override {}
  void operator()(const char*, bool&, const char*) override {}
  void operator()(const char*, std::string&, const char*) override {}

 private:
  std::string file_;
};

void require_free(const fs::path& path, bool replace) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  require(fs::is_directory(path), "{}: it is a file, not a folder", path.string());
  if (fs::is_empty(path)) return;
  require(is_model_folder(path), "{}: it exists and is not a model folder; choose another output", path.string());
  require(replace, "{}: there is a model already; --resume continues its training, --force replaces it", path.string());
}

}  // namespace

bool is_model_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / kConfig, ignored);
}

ModelFolder ModelFolder::create(const fs::path& given, const Names& names, const VisitFields& config,
                                const std::vector<File>& files, bool replace, const Prepare& prepare) {
  const fs::path path = without_slash(given);
  require_free(path, replace);
  const NewFolder folder(path);
  write_file(folder.path() / kConfig,
             fmt::format("{{\n  \"version\": {},\n  \"model\": {},\n{}  \"config\": {}\n}}\n", kVersion,
                         Json(names.model).dump(),
                         names.job.empty() ? "" : fmt::format("  \"job\": {},\n", Json(names.job).dump()),
                         fields_json(config, 4)));
  std::vector<std::string> written{kConfig};
  for (const File& file : files) {
    write_file(folder.path() / file.name, file.bytes);
    written.push_back(file.name);
  }
  FolderDigests(folder.path()).begin(written);
  fs::create_directory(folder.path() / "checkpoint");
  if (prepare) prepare(folder.path());
  folder.move_to(path, replace);
  return ModelFolder(path);
}

ModelFolder::ModelFolder(const fs::path& path) : path_(without_slash(path)) {
  std::error_code ignored;
  require(fs::exists(path_, ignored), "{}: there is no such model folder", path_.string());
  require(fs::is_directory(path_, ignored), "{}: it is a file, not a model folder", path_.string());
  require(is_model_folder(path_), "{}: it is not a model folder: {} is missing", path_.string(), kConfig);
  const fs::path file = path_ / kConfig;
  const Json json = read_json_file<Json>(file);
  require(json.is_object() && json.contains("version") && json["version"].is_number_integer(),
          "{}: it is damaged, or not the configuration of a model", file.string());
  require(json["version"] == kVersion, "{}: its version is {}, this program reads version {}", file.string(),
          json["version"].dump(), kVersion);
  require(json.contains("model") && json["model"].is_string() && json.contains("config") && json["config"].is_object(),
          "{}: it is damaged: the model's name or its configuration is missing", file.string());
  for (const auto& [name, value] : json.items())
    require(name == "version" || name == "model" || name == "job" || name == "config", "{}: it has an unknown entry {}",
            file.string(), name);
  names_.model = json["model"].get<std::string>();
  if (json.contains("job")) {
    require(json["job"].is_string(), "{}: its job is not a text", file.string());
    names_.job = json["job"].get<std::string>();
  }
  config_ = read_options(json["config"].dump(), file.string());
}

void ModelFolder::read_config(const VisitFields& config, std::span<const std::string> later) const {
  const std::string file = (path_ / kConfig).string();
  std::vector<std::string> known;
  for (const FieldDescription& field : describe_fields(config)) {
    require(config_.count(field.name) > 0 || std::find(later.begin(), later.end(), field.name) != later.end(),
            "{}: the field {} is missing", file, field.name);
    known.push_back(field.name);
  }
  for (const auto& [name, text] : config_)
    require(set_field(config, name, text, file), "{}: {} has no field {}{}", file, names_.model, name,
            did_you_mean(name, known));
  CheckSizes check(file);
  config(check);
}

fs::path ModelFolder::vocabulary(const std::string& side) const {
  std::error_code ignored;
  for (const char* ending : kVocabularies)
    if (fs::path file = path_ / (side + ending); fs::exists(file, ignored)) return file;
  fail("{}: its {} vocabulary is missing ({}.spm, {}.vocab.txt, {}.tokens.txt or {}.letters.txt)", path_.string(), side,
       side, side, side, side);
}

void ModelFolder::save_weights(const Parameters& parameters) const {
  digests().replace("model.safetensors", [&](const AtomicFile::BeforeRename& before) {
    save_parameters(weights(), parameters, {{"model", names_.model}}, before);
  });
}

void ModelFolder::save_checkpoint(const Checkpoint& checkpoint_now) const {
  digests().replace("checkpoint/training.safetensors", [&](const AtomicFile::BeforeRename& before) {
    heed::save_checkpoint(checkpoint(), checkpoint_now, before);
  });
}

void ModelFolder::save_text(const std::string& name, const std::string& text) const {
  digests().replace(name, [&](const AtomicFile::BeforeRename& before) {
    AtomicFile file(path_ / name);
    file.write(text);
    file.commit(before);
  });
}

void ModelFolder::verify(Verify what) const {
  for (const std::string& name : digests().names())
    if (what == Verify::all || !name.ends_with(".safetensors") ||
        (what == Verify::model && !name.starts_with("checkpoint/")))
      digests().check(name);
}

ParametersFile ModelFolder::stored_weights() const {
  require(has_weights(), "{}: model.safetensors is missing{}", path_.string(),
          has_checkpoint() ? "" : "; its training has not come so far, and heed train --resume continues it");
  return ParametersFile(weights());
}

void ModelFolder::remove_partial_files() const {
  for (const fs::path& folder : {path_, path_ / "checkpoint"}) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".partial") fs::remove(entry.path(), ignored);
  }
}

}  // namespace heed
