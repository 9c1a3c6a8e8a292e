// Beam search of width 5, or greedy search, over 64 sentences, together or one by one, in full or in eight bits. With
// its first weights a model hardly ever ends by itself: what is written is as long as its source, which is what
// translations are. Of the Transformer there is the size of the paper's base model too.
#include "heed/models/transformer.h"
#include "heed/nn/word_screen.h"
#include "heed/store/parameters_file.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr std::size_t kSentences = 64, kBaseSentences = 16;

// Each batch's first sentences, without the end.
std::vector<EncodedSample> sources(std::size_t count) {
  std::vector<EncodedSample> result;
  const std::vector<SampleBatch> batches = made_up_batches();
  for (const SampleBatch& batch : batches)
    for (Index b = 0; b < static_cast<Index>(count / batches.size()); ++b) {
      const Source& source = batch.inputs.front();
      const std::int32_t* const words = source.words.data() + b * source.longest();
      EncodedInput& input = result.emplace_back().inputs.emplace_back();
      input.words.assign(words, words + source.lengths.data()[b] - 1);
    }
  return result;
}

// Vaswani et al. 2017, table 3, with 32,000 words and the layer norm where the small preset has it.
void configure_base(Config& config) {
  auto& base = dynamic_cast<TransformerConfig&>(config);
  base.inputs[0] = base.outputs = 32000;
  base.layers = base.decoder_layers = 6;
  base.width = 512, base.feed_forward = 2048, base.heads = 8;
}

const Family decoding("translation-decoding", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "rnnsearch"), numbers = settings.word("numbers", "full");
  require(numbers == "full" || numbers == "int8", "numbers: full or int8, not {}", numbers);
  const bool base = settings.word("size", "small") == "base";
  const auto drawn = std::make_shared<SmallModel>(name, base ? configure_base : std::function<void(Config&)>());
  save_parameters(weights_file(base ? name + "-base" : name), drawn->parameters);
  const auto small = numbers == "int8" ? SmallModel::in_eight_bits(*drawn) : drawn;
  BatchedSearch search;
  search.options.beam = settings.number("beam", search.options.beam);
  if (search.options.beam == 1) search.method = SearchMethod::greedy, search.options.probabilities = false;
  search.screen = std::make_shared<WordScreen>();
  search.batch.samples = settings.number("sentences", 64);
  search.options.longest_factor = 1;
  search.options.longest_extra = 0;
  return searching_step(small, sources(base ? kBaseSentences : kSentences), search);
});

}  // namespace
}  // namespace heed::bench
