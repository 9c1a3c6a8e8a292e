#include "heed/jobs/training_data.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/json-inl.h"
#include "heed/data/spooled_files.h"

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Why a file is not what it was; empty if it may be.
std::string change_of(const FileState& before, const FileState& now) {
  if (now.bytes != before.bytes) return fmt::format("it has {} bytes and had {}", now.bytes, before.bytes);
  return now.digest == before.digest ? "" : "it is as long as it was, but something else stands in it";
}

}  // namespace

TrainingData::TrainingData(const Training& training) {
  const bool whole = training.digest == "full";
  for (const Training::FilesOfOption& each : training.files())
    for (const std::string& name : each.files) {
      std::string path = path_of(name);
      // "captions.json#train" is a part of a file.
      if (std::error_code ignored; !std::filesystem::exists(path, ignored)) path = name.substr(0, name.rfind('#'));
      files_.push_back({each.option, name, path, state_of_file(path, whole)});
    }
}

TrainingData TrainingData::from_json(const std::string& text, const std::string& file) {
  const OrderedJson json = parse_json<OrderedJson>(text, file);
  TrainingData data;
  try {
    for (const OrderedJson& each : json.at("files"))
      data.files_.push_back({each.at("option").get<std::string>(),
                             each.at("file").get<std::string>(),
                             "",
                             {each.at("bytes").get<std::uint64_t>(), each.at("modified").get<std::int64_t>(),
                              each.at("digest").get<std::string>(), each.at("sampled").get<bool>()}});
  } catch (const OrderedJson::exception&) {
    fail("{}: it is damaged: it does not say what the training reads", file);
  }
  return data;
}

std::string TrainingData::json() const {
  OrderedJson list = OrderedJson::array();
  for (const File& file : files_)
    list.push_back({{"option", file.option},
                    {"file", file.name},
                    {"bytes", file.state.bytes},
                    {"modified", file.state.modified},
                    {"digest", file.state.digest},
                    {"sampled", file.state.sampled}});
  return OrderedJson{{"files", list}}.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

TrainingData::Difference TrainingData::since(const TrainingData& before) const {
  Difference difference;
  const auto of_option = [](const std::vector<File>& files, const std::string& option) {
    std::vector<const File*> found;
    for (const File& file : files)
      if (file.option == option) found.push_back(&file);
    return found;
  };
  std::vector<std::string> options;
  for (const auto* files : {&before.files_, &files_})
    for (const File& file : *files)
      if (std::find(options.begin(), options.end(), file.option) == options.end()) options.push_back(file.option);
  for (const std::string& option : options) {
    const std::vector<const File*> then = of_option(before.files_, option), now = of_option(files_, option);
    if (then.size() != now.size()) {
      difference.changes.push_back(fmt::format("--{}: {} files now and {} before", option, now.size(), then.size()));
      continue;
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      const bool alike = now[i]->state.sampled == then[i]->state.sampled;
      const FileState state = alike ? now[i]->state : state_of_file(now[i]->path, !then[i]->state.sampled);
      if (const std::string change = change_of(then[i]->state, state); !change.empty())
        difference.changes.push_back(fmt::format("{} (--{}): {}", now[i]->name, option, change));
      else if (state.sampled && state.modified != then[i]->state.modified)
        difference.doubts.push_back(
            fmt::format("{} (--{}): it was written to since; its length and 1024 sampled blocks are what they were",
                        now[i]->name, option));
    }
  }
  return difference;
}

}  // namespace heed
