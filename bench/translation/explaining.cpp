// What a trace costs: beam search of width 5 over 64 sentences as text, with the alignment, with all attentions and the
// hypotheses besides, and without any of it.
#include "attention/settings.h"
#include "heed/base/threads.h"
#include "heed/data/words.h"
#include "heed/jobs/explain.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr std::size_t kSentences = 64;

std::shared_ptr<const Vocabulary> made_up_words() {
  std::string text = "<unk>\n<s>\n</s>\n";
  for (Index i = 3; i < kVocabulary; ++i) text += fmt::format("w{}\n", i);
  return words_from(text, "[bench]");
}

std::vector<std::string> sources(const Vocabulary& vocabulary) {
  std::vector<std::string> result;
  const std::vector<PairBatch> batches = made_up_batches();
  for (const PairBatch& batch : batches)
    for (Index b = 0; b < static_cast<Index>(kSentences / batches.size()); ++b) {
      const std::int32_t* const words = batch.source.words.data() + b * batch.source.longest();
      result.push_back(vocabulary.decode({words, static_cast<std::size_t>(batch.source.lengths.data()[b] - 1)}));
    }
  return result;
}

const Family explaining("translation-explaining", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "rnnsearch"), trace = settings.word("trace", "alignment");
  const auto vocabulary = made_up_words();
  const auto bundle = std::make_shared<const TranslationBundle>(
      make_translation(name, system_named(name).config("small"), vocabulary, vocabulary, 1));
  ExplainOptions options;
  options.search.options.longest_factor = 1;
  options.search.options.longest_extra = 0;
  options.attentions = options.beam = trace == "attentions";
  return [=, sentences = sources(*vocabulary)](Results* results) {
    std::vector<std::string> texts;
    if (trace == "none") {
      std::vector<std::vector<std::int32_t>> ids;
      for (const std::string& sentence : sentences) ids.push_back(vocabulary->encode(sentence));
      const Writer* const models[] = {bundle->model.get()};
      ThreadPool threads(thread_count());
      for (const auto& best : search_batches(models, ids, options.search, threads))
        texts.push_back(vocabulary->decode(best.front().words));
    } else {
      for (const Trace& each : Explainer(bundle, name).explain(sentences, options))
        texts.push_back(each.output().text.text);
    }
    if (results) *results = {{"sentences", Tensor(Shape{1}, static_cast<Real>(texts.size()))}};
  };
});

}  // namespace
}  // namespace heed::bench
