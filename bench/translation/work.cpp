#include "translation/work.h"

#include <algorithm>
#include <cstdlib>

#include "engine/case.h"
#include "heed/autograd/ops/loss.h"
#include "heed/data/vocabulary.h"
#include "heed/train/clip.h"

namespace heed::bench {
namespace {

constexpr Index kBatchWords = 2048;            // on each side, padded
constexpr Index kLongest[] = {9, 13, 16, 24};  // words of each batch's longest sentence
constexpr double kLargestNorm = 1;             // clipping
constexpr Real kRate = 3e-4F;

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

SmallModel::SmallModel(const std::string& name, const std::function<void(Config&)>& configure) {
  const System& system = system_named(name);
  const std::unique_ptr<Config> config = system.config("small");
  config->inputs[0] = config->outputs = kVocabulary;
  if (configure) configure(*config);
  std::unique_ptr<Model> made = system.make(parameters, *config);
  model.reset(&dynamic_cast<Writer&>(*made));
  static_cast<void>(made.release());
}

std::filesystem::path weights_file(const std::string& name) {
  const char* folder = std::getenv("HEED_BENCH_FOLDER");
  require(folder != nullptr, "[bench] HEED_BENCH_FOLDER is not set: where do the weights go?");
  return std::filesystem::path(folder) / (name + ".safetensors");
}

Updates::Updates(SmallModel& small, int threads, double label_smoothing)
    : small_(small),
      workers_({.shards = threads, .threads = threads}),
      optimiser_({.algorithm = Adam{.beta2 = 0.98}}),
      label_smoothing_(label_smoothing) {}

double Updates::run(const SampleBatch& batch, bool dropout) {
  const Index sentences = batch.inputs.front().batch(), shards = workers_.shards();
  const Workers::Result result = workers_.run(small_.parameters, step_++, [&](Index shard, Random& random) -> Var {
    const Index begin = sentences * shard / shards, end = sentences * (shard + 1) / shards;
    const Source source = rows_of(batch.inputs.front(), begin, end), previous = rows_of(batch.previous, begin, end);
    const TeacherForced forced = small_.model->forward(source, previous, {.random = dropout ? &random : nullptr});
    const Ids expected = batch.expected.slice(0, begin, end).slice(1, 0, previous.longest()).contiguous();
    return forced.words.cross_entropy(expected, {.label_smoothing = label_smoothing_, .average = false});
  });
  const auto words = static_cast<double>(batch.words);
  const double norm = global_norm(result.gradients, small_.parameters) / words;
  optimiser_.step(small_.parameters, result.gradients, kRate,
                  clip_factor(norm, kLargestNorm) / static_cast<Real>(words));
  return result.loss / words;
}

}  // namespace heed::bench
