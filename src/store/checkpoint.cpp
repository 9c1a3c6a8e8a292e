#include "heed/store/checkpoint.h"

#include <charconv>
#include <utility>

#include "heed/store/safetensors.h"

namespace heed {
namespace {

constexpr const char* kVersionName = "heed checkpoint";
constexpr const char* kCheckpointVersion = "1";

// "optimiser/encoder.weight.first" → its part and its name.
std::pair<std::string, std::string> split(const std::string& full, const std::string& file) {
  const std::size_t slash = full.find('/');
  require(slash != std::string::npos, "{}: {} belongs to no part of a checkpoint", file, Quoted{full});
  return {full.substr(0, slash), full.substr(slash + 1)};
}

double number_of(const std::string& text, const std::string& name, const std::string& file) {
  double number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc() && stopped == text.data() + text.size(), "{}: {} is {}, not a number", file,
          Quoted{name}, Quoted{text});
  return number;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                     const AtomicFile::BeforeRename& before) {
  std::vector<NamedTensor> tensors;
  Metadata metadata{{kVersionName, kCheckpointVersion}};
  for (const auto& [part, state] : checkpoint) {
    for (const NamedTensor& each : state.tensors) tensors.push_back({part + "/" + each.name, each.tensor});
    // The shortest text that reads back as the same number.
    for (const NamedNumber& each : state.numbers) metadata[part + "/" + each.name] = fmt::format("{}", each.number);
  }
  save_safetensors(path, tensors, metadata, before);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  const std::string file = path.string();
  const SafetensorsFile stored(path);
  const auto version = stored.metadata().find(kVersionName);
  require(version != stored.metadata().end(), "{}: it is not a checkpoint", file);
  require(version->second == kCheckpointVersion, "{}: it is a checkpoint of version {}, this program reads version {}",
          file, Quoted{version->second}, kCheckpointVersion);
  Checkpoint checkpoint;
  for (const std::string& full : stored.names()) {
    auto [part, name] = split(full, file);
    checkpoint[part].tensors.push_back({std::move(name), stored.tensor(full)});
  }
  for (const auto& [full, text] : stored.metadata()) {
    if (full == kVersionName) continue;
    auto [part, name] = split(full, file);
    checkpoint[part].numbers.push_back({std::move(name), number_of(text, full, file)});
  }
  return checkpoint;
}

const TrainingState& part_of(const Checkpoint& checkpoint, const std::string& name) {
  static const TrainingState nothing;
  const auto found = checkpoint.find(name);
  return found == checkpoint.end() ? nothing : found->second;
}

}  // namespace heed
