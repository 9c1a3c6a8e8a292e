#include "heed/data/corpora/labelled_corpus.h"

#include <algorithm>
#include <array>
#include <deque>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/random.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 3> kTables{"train", "valid", "test"};
constexpr std::size_t kTest = 2;

// The gold of one sample of the test; a document of its own for each text.
EraserAnnotation annotation_of(const GoldExample& example, const LabelledCorpusOptions& options, Index number) {
  EraserAnnotation annotation{.annotation_id = fmt::format("test-{}", number), .classification = example.label};
  std::vector<std::string> docids;
  for (const std::string& column : options.columns)
    docids.push_back(options.columns.size() == 1 ? annotation.annotation_id
                                                 : fmt::format("{}_{}", annotation.annotation_id, column));
  std::vector<EraserEvidence> group = example.evidences;
  for (EraserEvidence& evidence : group) evidence.docid = docids[evidence.docid == "0" ? 0 : 1];
  annotation.evidences.push_back(std::move(group));
  if (docids.size() > 1) annotation.docids = std::move(docids);
  return annotation;
}

}  // namespace

LabelledCorpusCounts write_labelled_corpus(const LabelledCorpusOptions& options,
                                           std::span<const GoldExample> examples) {
  require(options.valid >= 0 && options.test >= 0 && options.valid + options.test < 1,
          "[corpus] shares of {} and {} for validation and test leave nothing for training", options.valid,
          options.test);
  const bool linked =
      std::any_of(examples.begin(), examples.end(), [](const auto& each) { return !each.links.empty(); });
  std::vector<std::string> names = {"train.tsv", "valid.tsv", "test.tsv", "test.gold.jsonl"};
  if (linked) names.emplace_back("test.links");
  for (const std::string& name : names)
    require(options.force || !std::filesystem::exists(options.folder / name),
            "{}: it is there already; --force replaces it", (options.folder / name).string());

  std::array<std::string, kTables.size()> tables;
  std::array<Index, kTables.size()> counts{};
  std::vector<EraserAnnotation> gold;
  std::string links;
  for (const GoldExample& example : examples) {
    const std::uint64_t hash = RandomKey{}.derive(example.texts.front()).stream;
    const double place = RandomSequence(RandomKey{options.seed, hash}).uniform();
    const std::size_t part = place < options.valid ? 1 : place < options.valid + options.test ? kTest : 0;
    tables[part] += fmt::format("{}\t{}\n", example.label, fmt::join(example.texts, "\t"));
    ++counts[part];
    if (part != kTest) continue;
    gold.push_back(annotation_of(example, options, counts[kTest]));
    links += example.links + "\n";
  }
  require(counts[0] > 0, "[corpus] there is nothing to train on");

  std::error_code reason;
  std::filesystem::create_directories(options.folder, reason);
  require(!reason, "{}: cannot make the folder: {}", options.folder.string(), reason.message());
  const std::string gold_lines = eraser_lines(gold);
  const std::vector<std::string_view> contents = {tables[0], tables[1], tables[kTest], gold_lines, links};
  std::deque<AtomicFile> files;
  for (std::size_t i = 0; i < names.size(); ++i) files.emplace_back(options.folder / names[i]).write(contents[i]);
  for (AtomicFile& file : files) file.commit();
  return {counts[0], counts[1], counts[kTest]};
}

}  // namespace heed
