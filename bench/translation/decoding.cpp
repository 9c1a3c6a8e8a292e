// Beam search of width 5 over 64 sentences, together or one by one. With its first weights a model hardly ever ends by
// itself: what is written is as long as its source, which is what translations are.
#include <algorithm>

#include "attention/settings.h"
#include "heed/base/threads.h"
#include "heed/store/parameters_file.h"
#include "heed/jobs/batched_search.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr std::size_t kSentences = 64;

// Each batch's first sentences, without the end.
std::vector<EncodedSample> sources() {
  std::vector<EncodedSample> result;
  const std::vector<SampleBatch> batches = made_up_batches();
  for (const SampleBatch& batch : batches)
    for (Index b = 0; b < static_cast<Index>(kSentences / batches.size()); ++b) {
      const Source& source = batch.inputs.front();
      const std::int32_t* const words = source.words.data() + b * source.longest();
      EncodedInput& input = result.emplace_back().inputs.emplace_back();
      input.words.assign(words, words + source.lengths.data()[b] - 1);
    }
  return result;
}

const Family decoding("translation-decoding", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "rnnsearch");
  const auto small = std::make_shared<SmallModel>(name);
  save_parameters(weights_file(name), small->parameters);
  BatchedSearch search;
  search.batch.samples = settings.number("sentences", 64);
  search.options.longest_factor = 1;
  search.options.longest_extra = 0;
  const auto threads = std::make_shared<ThreadPool>(search.batch.samples == 1 ? 1 : thread_count());
  return [=, sentences = sources()](Results* results) {
    const Writer* const models[] = {small->model.get()};
    Hypotheses found;
    if (search.batch.samples == 1) {  // as they come: no one waits for the others
      for (const auto& sentence : sentences)
        found.push_back(std::move(search_batches(models, {&sentence, 1}, search, *threads).front()));
    } else {
      found = search_batches(models, sentences, search, *threads);
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
});

}  // namespace
}  // namespace heed::bench
