#include "heed/jobs/tuning.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/base/threads.h"
#include "heed/metrics/rouge.h"
#include "heed/search/minimum_error.h"

namespace heed {
namespace {

constexpr const char* kExtractive = "extractive.json";

std::filesystem::path file_of(const ModelFolder& folder) { return folder.path() / kExtractive; }

double quality_of(const std::string& summary, std::span<const std::string> references) {
  double sum = 0;
  for (const char* name : {"rouge1", "rouge2", "rougeL"}) sum += rouge(rouge_named(name), summary, references).f;
  return 100 * sum / 3;
}

// What a model found for a sample, without what it found before.
void add_candidates(const Bundle& bundle, const Sample& sample, std::span<const Result> results,
                    const ExtractiveValues& weights, std::set<std::string>& seen, RatedList& list) {
  EncodedSample encoded = bundle.encode({.inputs = sample.inputs});
  for (const Result& result : results) {
    if (!seen.insert(result.text).second) continue;
    const std::vector<std::int32_t> words = bundle.output_words(encoded).encode(result.text);
    const ExtractiveValues features = summed_extractive_features(written_words(encoded.inputs.front()), words);
    const double bonus = std::inner_product(features.begin(), features.end(), weights.begin(), 0.0);
    list.push_back(
        {result.log_probability - bonus, {features.begin(), features.end()}, quality_of(result.text, sample.outputs)});
  }
}

}  // namespace

Tuned tune_extractive(const std::filesystem::path& folder, std::span<const Sample> samples,
                      const TuningOptions& options, const std::function<void(const std::string&)>& say) {
  require(!samples.empty(), "[tune] there is no sample to tune on");
  auto bundle = std::make_shared<Bundle>(load_bundle(ModelFolder(folder), FolderWeights::trained));
  require(bundle->writer && bundle->codes.inputs.front() && bundle->codes.output &&
              bundle->codes.inputs.front()->serialized() == bundle->codes.output->serialized(),
          "{}: it cannot be tuned: words that it writes are compared with those of its text, which needs one "
          "vocabulary for both",
          folder.string());
  for (const Sample& sample : samples)
    require(!sample.outputs.empty(), "[tune] a sample has no output to compare with");
  RunOptions run = options.run;
  run.search.options.best = options.best;
  run.search.options.beam = std::max(run.search.options.beam, options.best);
  run.search.options.length_penalty = 0;  // scores are the sums that are tuned
  std::vector<RatedList> lists(samples.size());
  std::vector<std::set<std::string>> seen(samples.size());
  std::vector<double> weights(ExtractiveFeatures::kCount, 0);
  Tuned tuned;
  for (Index round = 0; round < options.rounds; ++round) {
    std::copy(weights.begin(), weights.end(), bundle->extractive.begin());
    Runner runner(bundle, name_of_folder(folder), options.threads, say);
    const std::vector<std::vector<Result>> results = runner.run(samples, run);
    for (std::size_t i = 0; i < samples.size(); ++i)
      add_candidates(*bundle, samples[i], results[i], bundle->extractive, seen[i], lists[i]);
    if (round == 0) tuned.before = chosen_quality(lists, weights);
    const std::vector<double> last = std::exchange(weights, minimum_error_weights(lists, weights));
    tuned.after = chosen_quality(lists, weights);
    say(fmt::format("round {}: {:.3f} of {} hypotheses, weights {:.3f}", round + 1, tuned.after,
                    std::accumulate(lists.begin(), lists.end(), std::size_t{0},
                                    [](std::size_t sum, const RatedList& list) { return sum + list.size(); }),
                    fmt::join(weights, " ")));
    if (weights == last) break;
  }
  std::copy(weights.begin(), weights.end(), tuned.weights.begin());
  return tuned;
}

TunedReranking tune_reranking(const std::filesystem::path& folder, std::span<const Sample> samples,
                              std::span<const std::string> documents, const RerankingOptions& options, int threads,
                              const std::function<void(const std::string&)>& say) {
  require(!samples.empty(), "[tune] there is no sample to tune on");
  const auto bundle = std::make_shared<const Bundle>(load_bundle(ModelFolder(folder), FolderWeights::trained));
  const std::vector<JobSide>& inputs = bundle->job->inputs;
  require(bundle->job->gives_choice() && inputs.size() == 2 && inputs[1].blank,
          "{}: it cannot be tuned: answers are put into the blank of a question, which {} does not have",
          folder.string(), bundle->job->name);
  TunedReranking tuned{Reranking(bundle->codes.inputs.front(), documents, options)};
  say(fmt::format("n-grams of {} documents", documents.size()));
  Runner runner(bundle, name_of_folder(folder), threads, say);
  RunOptions run;
  run.rerank = false;
  run.search.options.best = options.best;
  const std::vector<std::vector<Result>> results = runner.run(samples, run);
  std::vector<RatedList> lists(samples.size());
  ThreadPool pool(threads > 0 ? threads : thread_count());
  for_each_batch(pool, samples.size(), [&](std::size_t i) {
    std::vector<std::string> answers;
    for (const Result& result : results[i]) answers.push_back(result.text);
    const auto features = tuned.reranking.features(samples[i].inputs[0].text, samples[i].inputs[1].text, answers);
    for (std::size_t k = 0; k < answers.size(); ++k)
      if (std::isfinite(results[i][k].log_probability))
        lists[i].push_back({results[i][k].log_probability,
                            {features[k].begin(), features[k].end()},
                            answers[k] == samples[i].outputs.front() ? 100.0 : 0.0});
  });
  std::erase_if(lists, [](const RatedList& list) { return list.empty(); });
  require(!lists.empty(), "[tune] the model has no answer to any of the samples");
  for (const RatedList& list : lists)
    tuned.possible += std::ranges::max(list, {}, &RatedCandidate::quality).quality / static_cast<double>(lists.size());
  std::vector<double> weights(Reranking::kCount, 0);
  tuned.before = chosen_quality(lists, weights);
  weights = minimum_error_weights(lists, weights);
  tuned.after = chosen_quality(lists, weights);
  Reranking::Values values;
  std::copy(weights.begin(), weights.end(), values.begin());
  tuned.reranking.set_weights(values);
  return tuned;
}

void write_extractive(const ModelFolder& folder, const ExtractiveValues& weights) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < weights.size(); ++k) json[ExtractiveFeatures::kNames[k]] = weights[k];
  folder.save_text(kExtractive, json.dump(2) + "\n");
}

ExtractiveValues read_extractive(const ModelFolder& folder) {
  std::error_code ignored;
  ExtractiveValues weights{};
  if (!std::filesystem::exists(file_of(folder), ignored)) return weights;
  const std::string file = file_of(folder).string();
  const auto json = read_json_file(file);
  require(json.is_object(), "{}: it is damaged: no JSON object", file);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto value = json.find(ExtractiveFeatures::kNames[k]);
    require(value != json.end() && value->is_number() && std::isfinite(value->get<double>()),
            "{}: it is damaged: {} is missing or no number", file, ExtractiveFeatures::kNames[k]);
    weights[k] = value->get<double>();
  }
  return weights;
}

}  // namespace heed
