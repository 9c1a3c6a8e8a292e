// What a trace costs: beam search of width 5 over 64 sentences as text, with the alignment, with all attentions and the
// hypotheses besides, and without any of it.
#include "attention/settings.h"
#include "heed/base/threads.h"
#include "heed/data/words.h"
#include "heed/jobs/runner.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr std::size_t kSentences = 64;

std::shared_ptr<const Vocabulary> made_up_words() {
  std::string text = "<unk>\n<s>\n</s>\n";
  for (Index i = 3; i < kVocabulary; ++i) text += fmt::format("w{}\n", i);
  return words_from(text, "[bench]", WordCutting::white_space);
}

std::vector<Sample> sources(const Vocabulary& vocabulary) {
  std::vector<Sample> result;
  const std::vector<SampleBatch> batches = made_up_batches();
  for (const SampleBatch& batch : batches)
    for (Index b = 0; b < static_cast<Index>(kSentences / batches.size()); ++b) {
      const Source& source = batch.inputs.front();
      const std::int32_t* const words = source.words.data() + b * source.longest();
      result.push_back(sample_of({vocabulary.decode({words, static_cast<std::size_t>(source.lengths.data()[b] - 1)})}));
    }
  return result;
}

const Family explaining("translation-explaining", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "rnnsearch"), trace = settings.word("trace", "alignment");
  const auto vocabulary = made_up_words();
  const System& system = system_named(name);
  const auto bundle = std::make_shared<const Bundle>(
      make_bundle(job_named(system.job), system, system.config("small"), {{vocabulary}, {}, vocabulary, {}}, 1));
  const auto runner = std::make_shared<Runner>(bundle, name, thread_count(), [](const std::string&) {});
  ExplainOptions options;
  options.run.search.options.longest_factor = 1;
  options.run.search.options.longest_extra = 0;
  options.attentions = options.beam = trace == "attentions";
  return [=, sentences = sources(*vocabulary)](Results* results) {
    std::vector<std::string> texts;
    if (trace == "none") {
      std::vector<EncodedSample> encoded;
      for (const Sample& sentence : sentences) encoded.push_back(bundle->encode(sentence));
      const Writer* const writers[] = {bundle->writer};
      ThreadPool threads(thread_count());
      for (const auto& best : search_batches(writers, encoded, options.run.search, threads))
        texts.push_back(vocabulary->decode(best.front().words));
    } else {
      for (const Trace& each : runner->explain(sentences, options)) texts.push_back(each.output().text.text);
    }
    if (results) *results = {{"sentences", Tensor(Shape{1}, static_cast<Real>(texts.size()))}};
  };
});

}  // namespace
}  // namespace heed::bench
