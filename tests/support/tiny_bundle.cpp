#include "support/tiny_bundle.h"

#include "attention/composition_cases.h"
#include "heed/base/file.h"
#include "heed/data/subwords.h"
#include "heed/data/words.h"
#include "models/translation_cases.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

constexpr Index kWidth = 8, kPieces = 50;

std::shared_ptr<const Vocabulary> learn(const std::string& text, bool subwords) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "text").string();
  write_file(file, text);
  const TrainingText lines(std::vector<std::string>{file});
  return subwords ? train_subwords(lines, {.size = kPieces}) : train_words(lines, {});
}

}  // namespace

Bundle make_tiny(const TinyBundle& tiny) {
  const System& system = system_named(tiny.system);
  const Job& job = job_named(tiny.job.empty() ? system.job : tiny.job);
  std::vector<std::shared_ptr<const Vocabulary>> learnt;
  for (const std::string& text : tiny.texts) learnt.push_back(learn(text, tiny.subwords));
  std::size_t next = 0;
  const auto vocabulary_of = [&](const JobSide& side) {
    return is_text(side.kind) ? learnt[std::min(next++, learnt.size() - 1)] : nullptr;
  };
  Codes codes;
  for (const JobSide& side : job.inputs) codes.inputs.push_back(vocabulary_of(side));
  codes.output = vocabulary_of(job.output);
  codes.labels = tiny.labels;
  Bundle bundle =
      make_bundle(job, system, tiny_config({tiny.system, tiny.settings}, kWidth), std::move(codes), tiny.seed);
  if (tiny.deviation > 0) randomise(*bundle.parameters, tiny.seed, tiny.deviation);
  return bundle;
}

std::filesystem::path make_tiny_folder(const std::filesystem::path& folder, const TinyBundle& tiny) {
  const Bundle bundle = make_tiny(tiny);
  create_folder(folder, bundle, {}, false).save_weights(*bundle.parameters);
  return folder;
}

std::vector<Sample> samples_of(const std::vector<std::string>& texts) {
  std::vector<Sample> samples;
  for (const std::string& text : texts) samples.push_back(sample_of({text}));
  return samples;
}

}  // namespace heed::test
