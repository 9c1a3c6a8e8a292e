// Models that summarise: one repetition of training is an update for each of four batches of texts of up to 100 words,
// one of decoding writes a summary of one text of 100 words by a beam of 5. In the repetitions that are compared
// dropout is off, in those of training that are timed it is on. bench/peers/torch_summarising.py has the same.
#include "heed/store/parameters_file.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr Index kTexts = 32, kLongestText[] = {55, 70, 85, 100}, kLongestSummary = 10;

// The pointer-generator is rnnsearch that copies.
std::shared_ptr<SmallModel> summariser(const std::string& name) {
  if (name != "pointer") return std::make_shared<SmallModel>(name);
  return std::make_shared<SmallModel>("rnnsearch", [](Config& config) {
    require(set_field([&config](Fields& fields) { config.visit(fields); }, "copy", "true", "rnnsearch"),
            "[bench] rnnsearch has no copy");
  });
}

SampleBatch made_up_summaries(Index longest) {
  return made_up_batch({kTexts, longest, kLongestSummary, true}, static_cast<std::uint32_t>(5000 + longest));
}

const Family training("summarising-training", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "abs");
  const auto small = summariser(name);
  save_parameters(weights_file(name), small->parameters);
  std::vector<SampleBatch> batches;
  for (const Index longest : kLongestText) batches.push_back(made_up_summaries(longest));
  return training_step(small, std::move(batches), {.label_smoothing = 0});
});

const Family decoding("summarising-decoding", [](Settings& settings) -> Step {
  const auto small = summariser(settings.word("model", "pointer"));
  const Source texts = made_up_summaries(kLongestText[3]).inputs.front();
  EncodedSample text;
  text.inputs.emplace_back().words.assign(texts.words.data(), texts.words.data() + texts.lengths.data()[0] - 1);
  BatchedSearch search;
  search.options.longest_factor = 0;
  search.options.longest_extra = kLongestSummary;
  const auto threads = std::make_shared<ThreadPool>(1);
  return [=](Results* results) {
    const Writer* const models[] = {small->model.get()};
    const Hypotheses found = search_batches(models, {&text, 1}, search, *threads);
    if (results) *results = {{"score", Tensor::scalar(static_cast<Real>(found.front().front().score))}};
  };
});

}  // namespace
}  // namespace heed::bench
