// Beam search of width 5, or greedy search, over 64 sentences, together or one by one, in full or in eight bits. With
// its first weights a model hardly ever ends by itself: what is written is as long as its source, which is what
// translations are.
#include "heed/store/parameters_file.h"
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
  const std::string name = settings.word("model", "rnnsearch"), numbers = settings.word("numbers", "full");
  require(numbers == "full" || numbers == "int8", "numbers: full or int8, not {}", numbers);
  const auto drawn = std::make_shared<SmallModel>(name);
  save_parameters(weights_file(name), drawn->parameters);
  const auto small = numbers == "int8" ? SmallModel::in_eight_bits(*drawn) : drawn;
  BatchedSearch search;
  search.options.beam = settings.number("beam", search.options.beam);
  if (search.options.beam == 1) search.method = SearchMethod::greedy, search.options.probabilities = false;
  search.batch.samples = settings.number("sentences", 64);
  search.options.longest_factor = 1;
  search.options.longest_extra = 0;
  return searching_step(small, sources(), search);
});

}  // namespace
}  // namespace heed::bench
