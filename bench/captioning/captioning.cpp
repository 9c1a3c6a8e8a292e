// Captions for made-up features of EfficientNet-Lite0's head, 7 x 7 regions: one repetition of training is an update
// for each of four batches, one of writing a beam search of width 5 for 64 images, together or one by one. In the
// repetitions that are compared dropout is off, in those of training that are timed it is on.
// bench/peers/torch_captioning.py has the same.
#include <fmt/format.h>

#include <algorithm>

#include "attention/settings.h"
#include "heed/base/threads.h"
#include "heed/data/symbols.h"
#include "heed/jobs/batched_search.h"
#include "heed/store/parameters_file.h"
#include "heed/train/clip.h"
#include "heed/train/optimiser.h"
#include "heed/train/workers.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr Index kCaptionWords = 3000, kRegions = 49, kFeatures = 1280;
constexpr Index kImages = 64, kLongestCaption[] = {9, 11, 13, 17};  // of each batch
constexpr Index kWritten = 12;                                      // words of a caption that is written, at most
constexpr double kLargestCaptionNorm = 1;
constexpr Real kCaptionRate = 1e-3F;

std::int32_t caption_word_of(std::int32_t bits) {
  const std::int64_t u = bits;
  return static_cast<std::int32_t>(3 + ((((u * u) >> 24) * u >> 24) * (kCaptionWords - 3) >> 24));
}

Tensor features_of(std::uint32_t seed) { return filled(Shape{kImages, kRegions, kFeatures}, seed); }

struct CaptionBatch {
  Source images, previous;
  Ids expected;
  Index words = 0;
};
CaptionBatch caption_batch(Index longest) {
  const auto seed = static_cast<std::uint32_t>(5000 + 10 * longest);
  const Shape shape{kImages, longest + 1};
  const Ids bits = filled_ids(shape, seed, 1 << 24), shorter = filled_ids(Shape{kImages}, seed + 1, 3);
  CaptionBatch batch;
  batch.images = {.lengths = Ids(Shape{kImages}, static_cast<std::int32_t>(kRegions)),
                  .features = features_of(seed + 2)};
  batch.previous = {.words = Ids(shape, kEnd), .lengths = Ids(Shape{kImages})};
  batch.expected = Ids(shape, -1);
  for (Index b = 0; b < kImages; ++b) {
    const Index n = longest - shorter.at({b});
    std::int32_t* const previous = batch.previous.words.data() + b * (longest + 1);
    std::int32_t* const expected = batch.expected.data() + b * (longest + 1);
    for (Index t = 0; t < n; ++t) expected[t] = caption_word_of(bits.at({b, t}));
    expected[n] = kEnd;
    previous[0] = kBegin;
    std::copy_n(expected, n, previous + 1);
    batch.previous.lengths.data()[b] = static_cast<std::int32_t>(n + 1);
    batch.words += n + 1;
  }
  return batch;
}

struct SmallCaptioner {
  explicit SmallCaptioner(const std::string& name) {
    const System& system = system_named(name);
    const std::unique_ptr<Config> config = system.config("small");
    config->inputs[0] = kFeatures, config->outputs = kCaptionWords;
    model = system.make(parameters, *config);
    writer = dynamic_cast<const Writer*>(model.get());
    save_parameters(weights_file(name), parameters);
  }
  Parameters parameters{1};
  std::unique_ptr<Model> model;
  const Writer* writer = nullptr;
};

Source rows_of_images(const Source& all, Index begin, Index end) {
  const auto cut = [&](const auto& x) { return x ? x.slice(0, begin, end).contiguous() : x; };
  return {.words = cut(all.words), .lengths = cut(all.lengths), .features = cut(all.features)};
}

const Family caption_training("captioning-training", [](Settings& settings) -> Step {
  const auto small = std::make_shared<SmallCaptioner>(settings.word("model", "show-attend-tell"));
  const int threads = thread_count();
  const auto workers = std::make_shared<Workers>(WorkersOptions{.shards = threads, .threads = threads});
  const auto optimiser = std::make_shared<Optimiser>(OptimiserOptions{});
  const auto steps = std::make_shared<Index>(0);
  std::vector<CaptionBatch> batches;
  for (const Index longest : kLongestCaption) batches.push_back(caption_batch(longest));
  return [=](Results* results) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const CaptionBatch& batch = batches[i];
      const Workers::Result result =
          workers->run(small->parameters, (*steps)++, [&](Index shard, Random& random) -> Var {
            const Index begin = kImages * shard / threads, end = kImages * (shard + 1) / threads;
            return small->writer
                ->forward(rows_of_images(batch.images, begin, end), rows_of_images(batch.previous, begin, end),
                          {.random = results ? nullptr : &random})
                .words.cross_entropy(batch.expected.slice(0, begin, end).contiguous(), {.average = false});
          });
      const auto words = static_cast<double>(batch.words);
      const double norm = global_norm(result.gradients, small->parameters) / words;
      optimiser->step(small->parameters, result.gradients, kCaptionRate,
                      clip_factor(norm, kLargestCaptionNorm) / static_cast<Real>(words));
      if (results)
        results->emplace_back(fmt::format("loss of batch {}", i),
                              Tensor::scalar(static_cast<Real>(result.loss / words)));
    }
  };
});

// With its first weights a model hardly ever ends by itself: all captions have as many words as they may.
const Family caption_writing("captioning-writing", [](Settings& settings) -> Step {
  const auto small = std::make_shared<SmallCaptioner>(settings.word("model", "show-attend-tell"));
  BatchedSearch search;
  search.batch.samples = settings.number("images", 64);
  search.options.longest_factor = 0;
  search.options.longest_extra = kWritten;
  const auto threads = std::make_shared<ThreadPool>(search.batch.samples == 1 ? 1 : thread_count());
  const Tensor features = features_of(6000);
  std::vector<EncodedSample> images;
  for (Index i = 0; i < kImages; ++i) {
    EncodedInput& input = images.emplace_back().inputs.emplace_back();
    input.features = features.slice(0, i, i + 1).contiguous().reshape(Shape{kRegions, kFeatures});
    input.whole = true;
  }
  return [=](Results* results) {
    const Writer* const models[] = {small->writer};
    Hypotheses found;
    if (search.batch.samples == 1) {  // as they come: no one waits for the others
      for (const auto& image : images)
        found.push_back(std::move(search_batches(models, {&image, 1}, search, *threads).front()));
    } else {
      found = search_batches(models, images, search, *threads);
    }
    if (!results) return;
    Tensor scores(Shape{kImages}), words(Shape{kImages, kWritten}, Real{0});
    for (Index i = 0; i < kImages; ++i) {
      const Hypothesis& best = found[static_cast<std::size_t>(i)].front();
      scores.data()[i] = static_cast<Real>(best.score);
      std::copy(best.words.begin(), best.words.end(), words.data() + i * kWritten);
    }
    *results = {{"scores", scores}, {"words", words}};
  };
});

}  // namespace
}  // namespace heed::bench
