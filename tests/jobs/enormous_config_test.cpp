#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/jobs/runner.h"
#include "heed/models/system.h"
#include "heed/tensor/memory.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLittle = std::size_t{1} << 20;
constexpr std::size_t kFileLimit = std::size_t{1} << 20;

TinyBundle tiny_of(const System& system) {
  const Job& job = job_named(system.job);
  TinyBundle tiny{.system = system.name};
  if (job.gives_label()) tiny.labels = {"one", "other"};
  return tiny;
}

// What the pool hands out at most while the folder is opened and, if that is no Error, run.
std::size_t memory_of_running(const std::filesystem::path& folder, const Job& job) {
  memory::reset_peak();
  const std::size_t before = memory::statistics().peak_bytes;
  try {
    Runner runner({folder}, 1, [](const std::string&) {});
    Sample sample;
    for (const JobSide& side : job.inputs) {
      if (!is_text(side.kind)) return memory::statistics().peak_bytes - before;
      sample.inputs.push_back({"the old house"});
    }
    runner.run(std::vector<Sample>{sample});
  } catch (const Error&) {  // as it should be of most
  }
  return memory::statistics().peak_bytes - before;
}

// A configuration may claim what it likes: the weights that are there decide how large a model becomes.
TEST(EnormousConfig, CostsNoMemory) {
  const TemporaryFolder temporary;
  int tried = 0;
  for (const System& system : systems()) {
    const std::filesystem::path folder = make_tiny_folder(temporary.path() / system.name, tiny_of(system));
    const std::filesystem::path file = folder / "config.json";
    std::filesystem::remove(folder / "digests.json");  // which would notice it
    const Json good = Json::parse(read_file(file, kFileLimit));
    for (const auto& [name, value] : good["config"].items()) {
      if (!value.is_number_integer()) continue;
      for (const Index enormous :
           {Index{1'000'000}, Index{1'000'000'000'000}, std::numeric_limits<Index>::max(), Index{-1'000'000}}) {
        Json changed = good;
        changed["config"][name] = enormous;
        write_file(file, changed.dump());
        EXPECT_LT(memory_of_running(folder, job_named(system.job)), kLittle)
            << system.name << ", " << name << ": " << enormous;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 100);
}

}  // namespace
}  // namespace heed::test
