#include <map>
#include <nlohmann/json.hpp>

#include "heed/base/json-inl.h"
#include "heed/data/caption_files.h"
#include "heed/data/corpora/scenes.h"
#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"

// Captioning: an image in, a sentence about it out (Xu et al. 2015).

namespace heed {
namespace {

std::string write_scenes_demo(const std::filesystem::path& folder, Index samples, std::uint64_t seed) {
  const ScenesCounts counts = write_scenes({.folder = folder, .scenes = samples, .seed = seed, .force = true});
  return fmt::format("{} drawn scenes to train on, {} for validation, {} to test", counts.train, counts.valid,
                     counts.test);
}

JobDemo::Corpus scenes_files(const std::filesystem::path& folder) {
  const auto table = [&folder](const char* part) {
    return SampleFiles{.files = {(folder / part).string()}, .format = "captions"};
  };
  return {table("train.tsv"), table("valid.tsv"), table("test.tsv"), (folder / "test.boxes.jsonl").string()};
}

// COCO's results, which its own tools (METEOR and SPICE among them) read: [{"image_id": 17, "caption": "a dog"}]. An id
// is the one that the file gives, or the number at the end of the image's name, or that name.
std::string coco_results(std::span<const std::string> outputs, std::span<const Sample> samples,
                         const SampleFiles& files) {
  std::map<std::string, std::string> ids;
  for (const std::string& file : files.files)
    if (file != "-") ids.merge(coco_image_ids(file));
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::filesystem::path path(samples[i].inputs.front().text);
    const std::string stem = path.stem().string();
    const std::string digits = stem.substr(stem.find_last_not_of("0123456789") + 1);
    const auto known = ids.find(path.filename().string());
    nlohmann::ordered_json id = path.filename().string();
    if (known != ids.end())
      id = parse_json<nlohmann::ordered_json>(known->second, "image id");
    else if (!digits.empty() && digits.size() < 19)
      id = std::stoll(digits);
    all.push_back({{"image_id", std::move(id)}, {"caption", outputs[i]}});
  }
  return all.dump() + "\n";
}

const RegisterJob captioning{{.name = "captioning",
                              .verb = "caption",
                              .summary = "Write a sentence for each image",
                              .inputs = {{.name = "image", .kind = Kind::image, .help = "images"}},
                              .output = {.name = "caption", .kind = Kind::text, .help = "their captions"},
                              .columns = {"image", "caption"},
                              // As pycocoevalcap computes them; its CIDEr is CIDEr-D.
                              .metrics = {text_metric("bleu4"), text_metric("cider-d"), text_metric("bleu1"),
                                          text_metric("bleu2"), text_metric("bleu3"), text_metric("coco-rouge")},
                              .system = "show-attend-tell",
                              .training = {{"vocabulary", "words"},
                                           {"vocabulary-size", "10000"},
                                           {"batch-sentences", "64"},
                                           {"batch-words", "0"}},
                              .demo = JobDemo{.write_corpus = write_scenes_demo,
                                              .files = scenes_files,
                                              .samples = 3000,
                                              .steps = 4000,
                                              .options = {{"model", "show-attend-tell"},
                                                          {"encoder", "near"},
                                                          {"picture", "64"},
                                                          {"encoder-layers", "stage2"},
                                                          {"places", "true"},
                                                          {"query-word", "true"},
                                                          {"gate", "false"},
                                                          {"normaliser", "sharpened"},
                                                          {"temperature", "0.3"},
                                                          {"focus", "0.004"},
                                                          {"embedding", "48"},
                                                          {"hidden", "128"},
                                                          {"dropout", "0.1"},
                                                          {"batch-sentences", "32"},
                                                          {"learning-rate", "0.003"},
                                                          {"schedule", "inverse-root"},
                                                          {"warm-up", "100"},
                                                          {"validate-every", "300u"},
                                                          {"shards", "2"}},
                                              .longest = kSceneLongest + 1,
                                              .noun = "scenes",
                                              .about = "where the model looked for each word that it wrote",
                                              .next = "heed explain {} PICTURE.png"},
                              .results = coco_results}};

}  // namespace
}  // namespace heed
