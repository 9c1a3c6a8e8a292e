#include "heed/jobs/labelled_demo.h"

namespace heed {

std::string write_labelled_demo(const std::filesystem::path& folder, std::vector<std::string> columns,
                                std::span<const GoldExample> examples, std::uint64_t seed, const std::string& noun) {
  const LabelledCorpusCounts counts =
      write_labelled_corpus({.folder = folder, .columns = std::move(columns), .seed = seed, .force = true}, examples);
  return fmt::format("{} {} to train on, {} for validation, {} to test", counts.train, noun, counts.valid, counts.test);
}

JobDemo::Corpus labelled_demo_files(const std::filesystem::path& folder, const std::string& gold) {
  const auto table = [&folder](const char* part) {
    return SampleFiles{.files = {(folder / part).string()}, .format = "tsv"};
  };
  return {table("train.tsv"), table("valid.tsv"), table("test.tsv"), (folder / gold).string()};
}

}  // namespace heed
