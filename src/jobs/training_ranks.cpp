#include "heed/jobs/training_ranks.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <thread>

#include "heed/base/digest.h"
#include "heed/base/threads.h"
#include "heed/base/version.h"
#include "heed/data/spooled_files.h"
#include "heed/kernels/dispatch.h"
#include "heed/store/fields_file.h"

namespace heed {

std::vector<std::string> all_files(const Training& training) {
  std::vector<std::string> files;
  for (const Training::FilesOfOption& each : training.files())
    files.insert(files.end(), each.files.begin(), each.files.end());
  return files;
}

Say said_once(const Ranks& ranks, const Say& say) {
  return ranks.first() ? say : [](const std::string&) {};
}

void share_processors(const Ranks& ranks) {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  if (!ranks.alone() && thread_count() >= all) set_thread_count(std::max(1, all / ranks.neighbours()));
}

void choose_shards(Training& training, Ranks& ranks) {
  if (ranks.alone()) {
    if (training.shards == 0) training.shards = std::max<Index>(std::thread::hardware_concurrency(), 1);
    return;
  }
  const auto own = static_cast<unsigned>(training.threads > 0 ? static_cast<int>(training.threads) : thread_count());
  const Index chosen = static_cast<Index>(std::bit_floor(own)) * ranks.size();
  if (training.shards == 0) training.shards = std::stoll(ranks.from_first(std::to_string(chosen)));
  ranks.together([&] { check_shards(training.shards, ranks.size()); });
}

void require_same_options(Ranks& ranks, const VisitFields& visit) {
  if (ranks.alone()) return;
  const std::string version(heed_version()), of_first = ranks.from_first(version);
  const std::string first_options = ranks.from_first(fields_json(visit));
  ranks.together([&] {
    require(version == of_first, "it is heed {}, the first rank is heed {}", version, of_first);
    const auto theirs = read_options(first_options, "the first rank's options");
    for (const auto& [name, text] : read_options(fields_json(visit), "the options")) {
      const auto other =
          std::find_if(theirs.begin(), theirs.end(), [&name = name](const auto& each) { return each.first == name; });
      const std::string other_text = other == theirs.end() ? "" : other->second;
      require(name == "threads" || text == other_text, "its --{} is '{}', that of the first rank '{}'", name, text,
              other_text);
    }
  });
}

void require_same_data(Ranks& ranks, const TrainingData& data) {
  if (ranks.alone()) return;
  const std::string of_first = ranks.from_first(data.json());
  ranks.together([&] {
    const auto difference = data.since(TrainingData::from_json(of_first, "the first rank's data"));
    require(difference.changes.empty(), "its files are not those of the first rank: {}",
            fmt::join(difference.changes, "; "));
  });
}

void require_files_for_all(const Ranks& ranks, const Training& training) {
  for (const std::string& file : all_files(training))
    require(ranks.alone() || !is_read_once(file), "{}: several ranks cannot read a pipe; give them a file", file);
}

void use_common_kernels(Ranks& ranks, const Say& say) {
  if (ranks.alone()) return;
  const std::vector<std::string> own = kernels::simd_targets();
  const std::vector<std::string> all = ranks.gather(fmt::format("{}", fmt::join(own, ",")));
  const auto have_all = [&all](const std::string& target) {
    return std::all_of(all.begin(), all.end(), [&](const std::string& list) {
      const std::vector<std::string> known = parse_list(list);
      return std::find(known.begin(), known.end(), target) != known.end();
    });
  };
  if (std::all_of(all.begin(), all.end(), [&](const std::string& list) { return list == all.front(); })) return;
  const std::vector<std::string> of_first = parse_list(all.front());
  const auto common = std::find_if(of_first.begin(), of_first.end(), have_all);
  require(common != of_first.end(), "the processors of the ranks have no instructions in common");
  kernels::use_simd_target(*common);
  say(fmt::format("the ranks have different processors; all use {}", *common));
}

ModelFolder folder_of_first(Ranks& ranks, const std::filesystem::path& path) {
  const auto mark = [&] { return digest_of_file(path / "config.json"); };
  const std::string of_first = ranks.from_first(ranks.first() ? mark() : "");
  std::optional<ModelFolder> folder;
  ranks.together([&] {
    require(is_model_folder(path) && mark() == of_first,
            "{}: this rank does not see the folder of the first rank there; all ranks need one file system",
            path.string());
    folder.emplace(path);
  });
  return *folder;
}

void share_parameters(Ranks& ranks, Bundle& bundle) {
  for (Parameters::Entry& entry : bundle.parameters->entries()) ranks.share(entry.var.value().values());
}

}  // namespace heed
