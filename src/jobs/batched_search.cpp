#include "heed/jobs/batched_search.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "heed/base/spelling.h"
#include "heed/data/vocabulary.h"
#include "heed/search/ensemble.h"

namespace heed {
namespace {

// Few sentences make smaller batches, so that no thread waits long for the last of another.
constexpr Index kBatchesOfAThread = 2, kLeastSentences = 8;

std::unique_ptr<Decoding> start_all(std::span<const Writer* const> models, const Source& source) {
  if (models.size() == 1) return models.front()->start(source);
  std::vector<std::unique_ptr<Decoding>> members;
  for (const Writer* model : models) members.push_back(model->start(source));
  return std::make_unique<EnsembleDecoding>(std::move(members));
}

Hypotheses run(SearchMethod method, Decoding& decoding, const Ids& lengths, const SearchOptions& options) {
  switch (method) {
    case SearchMethod::greedy: return greedy_search(decoding, lengths, options);
    case SearchMethod::sample: return sample_search(decoding, lengths, options);
    default: return beam_search(decoding, lengths, options);
  }
}

}  // namespace

SearchMethod search_method_named(const std::string& name) {
  if (name == "greedy") return SearchMethod::greedy;
  if (name == "beam") return SearchMethod::beam;
  if (name == "sample") return SearchMethod::sample;
  fail("[search] there is no search {}{}", name,
       did_you_mean(name, std::vector<std::string>{"greedy", "beam", "sample"}));
}

std::vector<std::vector<std::size_t>> batches_by_length(std::span<const std::size_t> lengths, Index batch_sentences,
                                                        Index batch_words) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> batches;
  std::size_t longest = 0;
  for (const std::size_t i : order) {
    const bool full = !batches.empty() && (static_cast<Index>(batches.back().size()) >= batch_sentences ||
                                           static_cast<Index>((batches.back().size() + 1) * longest) > batch_words);
    if (batches.empty() || full) {
      batches.emplace_back();
      longest = lengths[i];
    }
    batches.back().push_back(i);
  }
  return batches;
}

std::vector<std::vector<std::size_t>> batches_for(const ThreadPool& threads, std::span<const std::size_t> lengths,
                                                  Index batch_sentences, Index batch_words) {
  const Index count = static_cast<Index>(lengths.size()),
              shares = threads.size() == 1 ? 1 : kBatchesOfAThread * threads.size();
  const Index share = std::max(kLeastSentences, (count + shares - 1) / shares);
  return batches_by_length(lengths, std::min(batch_sentences, share), batch_words);
}

Source with_end(std::span<const std::vector<std::int32_t>> sentences, std::span<const std::size_t> chosen) {
  std::size_t longest = 0;
  for (const std::size_t i : chosen) longest = std::max(longest, sentences[i].size());
  const Index batch = static_cast<Index>(chosen.size()), width = static_cast<Index>(longest) + 1;
  Source result{Ids(Shape{batch, width}, kEnd), Ids(Shape{batch})};
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    const std::vector<std::int32_t>& sentence = sentences[chosen[row]];
    std::copy(sentence.begin(), sentence.end(), result.words.data() + static_cast<Index>(row) * width);
    result.lengths.data()[row] = static_cast<std::int32_t>(sentence.size() + 1);
  }
  return result;
}

ForcedTargets forced_targets(std::span<const std::vector<std::int32_t>> sentences,
                             std::span<const std::size_t> chosen) {
  const Source expected = with_end(sentences, chosen);
  Ids previous(expected.words.shape(), kBegin);
  const Index width = expected.longest();
  for (Index row = 0; row < expected.batch(); ++row)
    std::copy_n(expected.words.data() + row * width, width - 1, previous.data() + row * width + 1);
  return {{previous, expected.lengths}, expected};
}

void for_each_batch(ThreadPool& threads, std::size_t count, const std::function<void(std::size_t)>& job) {
  if (count == 1) return job(0);  // one thread's work: its ops may use the others
  std::atomic<std::size_t> next{0};
  threads.run([&](int) {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  });
}

Hypotheses search_batches(std::span<const Writer* const> models,
                          std::span<const std::vector<std::int32_t>> sources, const BatchedSearch& search,
                          ThreadPool& threads) {
  std::vector<std::size_t> lengths;
  for (const auto& source : sources) lengths.push_back(source.size() + 1);
  const auto batches = batches_for(threads, lengths, search.batch_sentences, search.batch_words);
  Hypotheses results(sources.size());
  for_each_batch(threads, batches.size(), [&](std::size_t number) {
    const NoGradient off;
    const std::vector<std::size_t>& chosen = batches[number];
    SearchOptions options = search.options;
    options.prefixes.clear();
    options.sentences.clear();
    for (const std::size_t i : chosen) {
      if (!search.options.prefixes.empty()) options.prefixes.push_back(search.options.prefixes[i]);
      options.sentences.push_back(search.options.sentences.empty() ? i : search.options.sentences[i]);
    }
    if (search.options.observer)
      options.observer = [&](SearchStep step) {
        step.source = static_cast<Index>(chosen[static_cast<std::size_t>(step.source)]);
        search.options.observer(step);
      };
    const Source source = with_end(sources, chosen);
    const std::unique_ptr<Decoding> decoding = start_all(models, source);
    Hypotheses found = run(search.method, *decoding, source.lengths, options);
    for (std::size_t row = 0; row < chosen.size(); ++row) results[chosen[row]] = std::move(found[row]);
  });
  return results;
}

}  // namespace heed
