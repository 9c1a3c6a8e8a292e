#include "translation/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "engine/case.h"
#include "heed/autograd/ops/loss.h"
#include "heed/base/threads.h"
#include "heed/data/vocabulary.h"
#include "heed/train/clip.h"

namespace heed::bench {
namespace {

constexpr Index kBatchWords = 2048;            // on each side, padded
constexpr Index kLongest[] = {9, 13, 16, 24};  // words of each batch's longest sentence
constexpr double kLargestNorm = 1;             // clipping

}  // namespace

std::int32_t frequent_word(std::int32_t bits, Index vocabulary) {
  const std::int64_t u = bits;
  return static_cast<std::int32_t>(3 + ((((u * u) >> 24) * u >> 24) * (vocabulary - 3) >> 24));
}

SampleBatch made_up_batch(const MadeUpPairs& made_up, std::uint32_t seed) {
  const Shape read_shape{made_up.pairs, made_up.source + 1}, written_shape{made_up.pairs, made_up.target + 1};
  const Ids source = filled_ids(read_shape, seed, 1 << 24), target = filled_ids(written_shape, seed + 1, 1 << 24);
  const Ids shorter = filled_ids(Shape{2, made_up.pairs}, seed + 2, 3);  // than the longest, by so many words
  SampleBatch batch;
  Source& read_source = batch.inputs.emplace_back(Source{Ids(read_shape, kEnd), Ids(Shape{made_up.pairs})});
  batch.previous = {Ids(written_shape, kEnd), Ids(Shape{made_up.pairs})};
  batch.expected = Ids(written_shape, -1);
  for (Index b = 0; b < made_up.pairs; ++b) {
    const Index m = made_up.source - shorter.at({0, b}), n = made_up.target - shorter.at({1, b});
    std::int32_t* const read = read_source.words.data() + b * read_shape[1];
    std::int32_t* const previous = batch.previous.words.data() + b * written_shape[1];
    std::int32_t* const expected = batch.expected.data() + b * written_shape[1];
    for (Index j = 0; j < m; ++j) read[j] = frequent_word(source.at({b, j}), kVocabulary);
    for (Index t = 0; t < n; ++t)
      expected[t] = made_up.copied && t % 2 == 0 ? read[7 * t % m] : frequent_word(target.at({b, t}), kVocabulary);
    expected[n] = kEnd;
    previous[0] = kBegin;
    std::copy_n(expected, n, previous + 1);
    read_source.lengths.data()[b] = static_cast<std::int32_t>(m + 1);
    batch.previous.lengths.data()[b] = static_cast<std::int32_t>(n + 1);
    batch.words += n + 1;
  }
  return batch;
}

Source rows_of(const Source& all, Index begin, Index end) {
  const Ids lengths = all.lengths.slice(0, begin, end).contiguous();
  const Index longest = *std::max_element(lengths.values().begin(), lengths.values().end());
  const auto rows = [&](const Ids& x) { return x ? x.slice(0, begin, end).contiguous() : x; };
  const auto places = [&](const auto& x) { return x ? x.slice(0, begin, end).slice(1, 0, longest).contiguous() : x; };
  return {.words = places(all.words),
          .lengths = lengths,
          .features = places(all.features),
          .ends = rows(all.ends),
          .marks = places(all.marks)};
}

std::vector<SampleBatch> made_up_batches() {
  std::vector<SampleBatch> batches;
  for (const Index longest : kLongest)
    batches.push_back(
        made_up_batch({kBatchWords / (longest + 2), longest, longest}, static_cast<std::uint32_t>(3000 + longest)));
  return batches;
}

namespace {

std::unique_ptr<Writer> make_writer(const std::string& system, Parameters& parameters, const Config& config) {
  std::unique_ptr<Model> made = system_named(system).make(parameters, config);
  std::unique_ptr<Writer> writer(&dynamic_cast<Writer&>(*made));
  static_cast<void>(made.release());
  return writer;
}

}  // namespace

SmallModel::SmallModel(const std::string& name, const std::function<void(Config&)>& configure) : system(name) {
  const std::shared_ptr<Config> small = system_named(name).config("small");
  small->inputs[0] = small->outputs = kVocabulary;
  if (configure) configure(*small);
  config = small;
  model = make_writer(system, parameters, *config);
}

std::shared_ptr<SmallModel> SmallModel::in_eight_bits(const SmallModel& drawn) {
  const std::shared_ptr<SmallModel> rounded(new SmallModel);
  rounded->system = drawn.system, rounded->config = drawn.config;
  rounded->parameters.give(
      [&drawn](const std::string& name, const Shape&) { return drawn.parameters.at(name).value(); });
  rounded->parameters.round_to_int8();
  rounded->model = make_writer(rounded->system, rounded->parameters, *rounded->config);
  return rounded;
}

std::filesystem::path weights_file(const std::string& name) {
  const char* folder = std::getenv("HEED_BENCH_FOLDER");
  require(folder != nullptr, "[bench] HEED_BENCH_FOLDER is not set: where do the weights go?");
  return std::filesystem::path(folder) / (name + ".safetensors");
}

Updates::Updates(SmallModel& small, int threads, const UpdateOptions& options)
    : small_(small),
      workers_({.shards = threads, .threads = threads}),
      optimiser_({.algorithm = Adam{.beta2 = options.beta2}}),
      options_(options) {}

double Updates::run(const SampleBatch& batch, bool dropout) {
  const Index sentences = batch.inputs.front().batch(), shards = workers_.shards();
  const Workers::Result result = workers_.run(small_.parameters, step_++, [&](Index shard, Random& random) -> Var {
    const Index begin = sentences * shard / shards, end = sentences * (shard + 1) / shards;
    const Source source = rows_of(batch.inputs.front(), begin, end), previous = rows_of(batch.previous, begin, end);
    const TeacherForced forced = small_.model->forward(source, previous, {.random = dropout ? &random : nullptr});
    const Ids expected = batch.expected.slice(0, begin, end).slice(1, 0, previous.longest()).contiguous();
    return forced.words.cross_entropy(expected, {.label_smoothing = options_.label_smoothing, .average = false});
  });
  const auto words = static_cast<double>(batch.words);
  const double norm = global_norm(result.gradients, small_.parameters) / words;
  optimiser_.step(small_.parameters, result.gradients, options_.rate,
                  clip_factor(norm, kLargestNorm) / static_cast<Real>(words));
  return result.loss / words;
}

Step training_step(std::shared_ptr<SmallModel> small, std::vector<SampleBatch> batches, const UpdateOptions& options) {
  const auto updates = std::make_shared<Updates>(*small, thread_count(), options);
  return [small = std::move(small), updates, batches = std::move(batches)](Results* results) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const double loss = updates->run(batches[i], results == nullptr);
      if (results) results->emplace_back(fmt::format("loss of batch {}", i), Tensor::scalar(static_cast<Real>(loss)));
    }
  };
}

Step searching_step(std::shared_ptr<SmallModel> small, std::vector<EncodedSample> samples,
                    const BatchedSearch& search) {
  const bool one_by_one = search.batch.samples == 1;
  const auto threads = std::make_shared<ThreadPool>(one_by_one ? 1 : thread_count());
  return [=, small = std::move(small), samples = std::move(samples)](Results* results) {
    const Writer* const models[] = {small->model.get()};
    Hypotheses found;
    if (one_by_one) {  // no one waits for the others
      for (const EncodedSample& sample : samples)
        found.push_back(std::move(search_batches(models, {&sample, 1}, search, *threads).front()));
    } else {
      found = search_batches(models, samples, search, *threads);
    }
    if (!results) return;
    const Index count = static_cast<Index>(found.size());
    std::size_t longest = 0;
    for (const auto& best : found) longest = std::max(longest, best.front().words.size());
    const Index width = static_cast<Index>(longest);
    Tensor scores(Shape{count}), words(Shape{count, width}, Real{0});
    for (Index i = 0; i < count; ++i) {
      const Hypothesis& best = found[static_cast<std::size_t>(i)].front();
      scores.data()[i] = static_cast<Real>(best.score);
      std::copy(best.words.begin(), best.words.end(), words.data() + i * width);
    }
    *results = {{"scores", scores}, {"words", words}};
  };
}

}  // namespace heed::bench
