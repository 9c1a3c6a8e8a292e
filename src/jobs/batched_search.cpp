#include "heed/jobs/batched_search.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include "heed/autograd/ops/softmax.h"
#include "heed/base/spelling.h"
#include "heed/data/vocabulary.h"
#include "heed/search/ensemble.h"

namespace heed {
namespace {

// Few sentences make smaller batches, so that no thread waits long for the last of another.
constexpr Index kBatchesOfAThread = 2, kLeastSentences = 8;

// Rows of a beam search's steps: more make their products no faster, and the scores of all words leave the cache.
constexpr Index kRowsTogether = 80;
// Sentences with a shortlist: each brings words of its own, whose scores are computed for all.
constexpr Index kShortlistsTogether = 32;

// Nobody says more letters: a search that runs away in a sound is stopped here.
constexpr double kWordsPerSecond = 30;
// Nor are pictures described in more words, however many regions they have.
constexpr Index kWordsOfACaption = 50;

std::unique_ptr<Decoding> start_all(std::span<const Writer* const> writers, const Source& source) {
  if (writers.size() == 1) return writers.front()->start(source);
  std::vector<std::unique_ptr<Decoding>> members;
  for (const Writer* writer : writers) members.push_back(writer->start(source));
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

std::vector<std::vector<std::size_t>> batches_by_length(std::span<const std::size_t> lengths,
                                                        const BatchLimits& limits) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> batches;
  std::size_t longest = 0;
  for (const std::size_t i : order) {
    const bool full = !batches.empty() && (static_cast<Index>(batches.back().size()) >= limits.samples ||
                                           static_cast<Index>((batches.back().size() + 1) * longest) > limits.words);
    if (batches.empty() || full) {
      batches.emplace_back();
      longest = lengths[i];
    }
    batches.back().push_back(i);
  }
  return batches;
}

std::vector<std::vector<std::size_t>> batches_for(const ThreadPool& threads, std::span<const std::size_t> lengths,
                                                  const BatchLimits& limits) {
  const Index count = static_cast<Index>(lengths.size()),
              shares = threads.size() == 1 ? 1 : kBatchesOfAThread * threads.size();
  const Index share = std::max(kLeastSentences, (count + shares - 1) / shares);
  return batches_by_length(lengths, {std::min(limits.samples, share), limits.words});
}

SampleBatch chosen_batch(std::span<const EncodedSample> samples, std::span<const std::size_t> chosen,
                         bool gives_label) {
  std::vector<EncodedSample> some;
  some.reserve(chosen.size());
  for (const std::size_t i : chosen) some.push_back(samples[i]);
  return batch_of(some, gives_label);
}

std::size_t batch_length(const EncodedSample& sample) {
  std::size_t longest = sample.output.size();
  for (const EncodedInput& input : sample.inputs)
    longest = std::max(longest, static_cast<std::size_t>(input.limited_length()));
  return longest + 1;
}

const std::vector<std::int32_t>& written_words(const EncodedInput& input) {
  return input.copies.empty() ? input.words : input.copies;
}

void for_each_batch(ThreadPool& threads, std::size_t count, const std::function<void(std::size_t)>& job) {
  if (count == 1) return job(0);  // one thread's work: its ops may use the others
  std::atomic<std::size_t> next{0};
  const auto take = [&](int) {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  if (!threads.try_run(take)) take(0);
}

namespace {

std::vector<std::vector<std::size_t>> batches_of(std::span<const EncodedSample> samples, const BatchLimits& limits,
                                                 const ThreadPool& threads) {
  std::vector<std::size_t> lengths;
  for (const EncodedSample& sample : samples) lengths.push_back(batch_length(sample));
  return batches_for(threads, lengths, limits);
}

// A batch whose words are counted by their places in a shortlist: what its sources may write, and the words of
// prefixes.
class ShortlistedBatch {
 public:
  ShortlistedBatch(const Shortlist& shortlist, std::span<const EncodedSample> samples,
                   std::span<const std::size_t> chosen, std::span<const std::vector<std::int32_t>> prefixes) {
    std::vector<std::vector<std::int32_t>> each;
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      std::vector<std::int32_t>& own = each.emplace_back(shortlist.allowed(samples[chosen[row]].inputs.front().words));
      if (!prefixes.empty()) own.insert(own.end(), prefixes[row].begin(), prefixes[row].end());
      for (const std::int32_t word : own) {
        const auto id = static_cast<std::size_t>(word);
        if (id >= places_.size()) places_.resize(id + 1, kNowhere);
        places_[id] = 0;
      }
    }
    for (std::size_t id = 0; id < places_.size(); ++id)
      if (places_[id] != kNowhere) {
        places_[id] = static_cast<std::int32_t>(words_.size());
        words_.push_back(static_cast<std::int32_t>(id));
      }
    of_each_ = Mask(Shape{static_cast<Index>(chosen.size()), static_cast<Index>(words_.size())}, false);
    for (std::size_t row = 0; row < each.size(); ++row)
      for (const std::int32_t word : each[row])
        of_each_.data()[row * words_.size() + static_cast<std::size_t>(place_of(word))] = true;
  }

  void restrict(Source& source) const {
    source.writable = Ids(Shape{static_cast<Index>(words_.size())}, words_);
    source.writable_each = of_each_;
  }
  // The search's words become places, and what it asks and shows words again.
  void count_by_places(SearchOptions& options) const {
    for (std::int32_t* symbol : {&options.unknown, &options.begin, &options.end}) *symbol = place_of(*symbol);
    for (std::vector<std::int32_t>& prefix : options.prefixes)
      for (std::int32_t& word : prefix) word = place_of(word);
    if (options.observer)
      options.observer = [this, observer = options.observer](SearchStep step) {
        for (SearchStep::Alive& alive : step.hypotheses) alive.word = word_at(alive.word);
        observer(step);
      };
    if (options.allows)
      options.allows = [this, allows = options.allows](Index source, std::span<const std::int32_t> places) {
        // The words live as long as the question.
        const auto so_far = std::make_shared<std::vector<std::int32_t>>(places.begin(), places.end());
        for (std::int32_t& word : *so_far) word = word_at(word);
        return AllowsNext(
            [this, so_far, next = allows(source, *so_far)](std::int32_t place) { return next(word_at(place)); });
      };
  }
  void give_words(std::vector<Hypothesis>& found) const {
    for (Hypothesis& each : found)
      for (std::int32_t& word : each.words) word = word_at(word);
  }

 private:
  std::int32_t place_of(std::int32_t word) const {
    const auto id = static_cast<std::size_t>(word);
    require(id < places_.size() && places_[id] != kNowhere, "[shortlist] it does not allow the word {}", word);
    return places_[id];
  }
  std::int32_t word_at(std::int32_t place) const { return words_[static_cast<std::size_t>(place)]; }

  static constexpr std::int32_t kNowhere = -1;
  std::vector<std::int32_t> words_;   // rising
  std::vector<std::int32_t> places_;  // of each word up to the last of them; kNowhere: not among them
  Mask of_each_;
};

}  // namespace

Hypotheses search_batches(std::span<const Writer* const> writers, std::span<const EncodedSample> samples,
                          const BatchedSearch& search, ThreadPool& threads) {
  BatchLimits limits = search.batch;
  if (search.method == SearchMethod::beam)
    limits.samples = std::min(limits.samples, std::max<Index>(1, kRowsTogether / search.options.beam));
  if (search.shortlist) limits.samples = std::min(limits.samples, kShortlistsTogether);
  const auto batches = batches_of(samples, limits, threads);
  Hypotheses results(samples.size());
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
    if (search.options.allows)
      options.allows = [&](Index source, std::span<const std::int32_t> words) {
        return search.options.allows(static_cast<Index>(chosen[static_cast<std::size_t>(source)]), words);
      };
    const EncodedInput& input = samples[chosen.front()].inputs.front();
    if (input.whole) {
      const double most = options.longest_factor * static_cast<double>(input.length());
      options.longest_extra = std::min(kWordsOfACaption, static_cast<Index>(most) + options.longest_extra);
      options.longest_factor = 0;
    }
    if (const double step = input.frames.step; step > 0) {
      require(options.coverage_penalty == 0,
              "[search] a coverage penalty is for words: of a sound most frames are rightly never looked at");
      options.longest_factor = std::min(options.longest_factor, kWordsPerSecond * step);
    }
    Source source = chosen_batch(samples, chosen, false).inputs.front();
    std::optional<ShortlistedBatch> shortlisted;
    if (search.shortlist) {
      shortlisted.emplace(*search.shortlist, samples, chosen, options.prefixes);
      shortlisted->restrict(source);
      shortlisted->count_by_places(options);
    }
    const bool extracts = search.extractive != ExtractiveValues{};
    if (search.method == SearchMethod::greedy && options.likeliest_alone() && writers.size() == 1 && !extracts)
      source.screen = search.screen;
    std::unique_ptr<Decoding> decoding = start_all(writers, source);
    if (extracts) {
      require(!shortlisted, "[shortlist] a summariser that was tuned to its text's words has none");
      for (const double weight : search.extractive) options.bonus += std::max(weight, 0.0);
      options.stopping = Stopping::beam_full;  // what may still gain is never certainly worse
      std::vector<std::vector<std::int32_t>> texts;
      texts.reserve(chosen.size());
      for (const std::size_t i : chosen) texts.push_back(written_words(samples[i].inputs.front()));
      decoding = std::make_unique<ExtractiveDecoding>(std::move(decoding), std::move(texts), search.extractive);
    }
    Hypotheses found = run(search.method, *decoding, source.lengths, options);
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      if (shortlisted) shortlisted->give_words(found[row]);
      results[chosen[row]] = std::move(found[row]);
    }
  });
  return results;
}

std::vector<std::vector<double>> choose_batches(std::span<const Chooser* const> choosers,
                                                std::span<const EncodedSample> samples, const BatchLimits& limits,
                                                ThreadPool& threads, const std::function<void()>& on_step) {
  const auto batches = batches_of(samples, limits, threads);
  std::vector<std::vector<double>> results(samples.size());
  for_each_batch(threads, batches.size(), [&](std::size_t number) {
    const NoGradient off;
    const std::vector<std::size_t>& chosen = batches[number];
    const std::vector<Source> inputs = chosen_batch(samples, chosen, true).inputs;
    for (const Chooser* chooser : choosers) {
      if (on_step) on_step();
      const Tensor probabilities = softmax(chooser->forward(inputs).scores).value().contiguous();
      const Index most = probabilities.size(1);
      const Ids counts = inputs.front().marks ? choice_counts(inputs.back())
                                              : Ids(Shape{inputs.front().batch()}, static_cast<std::int32_t>(most));
      for (std::size_t row = 0; row < chosen.size(); ++row) {
        std::vector<double>& sums = results[chosen[row]];
        sums.resize(static_cast<std::size_t>(counts.data()[row]), 0);
        for (std::size_t i = 0; i < sums.size(); ++i)
          sums[i] += static_cast<double>(probabilities.data()[row * static_cast<std::size_t>(most) + i]) /
                     static_cast<double>(choosers.size());
      }
    }
  });
  return results;
}

}  // namespace heed
