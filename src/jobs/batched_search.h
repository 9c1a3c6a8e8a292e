#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/align/shortlist.h"
#include "heed/data/sample_batches.h"
#include "heed/models/system.h"
#include "heed/search/extractive.h"
#include "heed/search/search.h"
#include "heed/base/thread_pool.h"

namespace heed {

enum class SearchMethod { greedy, beam, sample };
// "greedy", "beam" or "sample"; an Error otherwise.
SearchMethod search_method_named(const std::string& name);

// How many samples go through a model at once.
struct BatchLimits {
  Index samples = 64;
  Index words = 4096;  // of the longest input, padded
};

struct BatchedSearch {
  SearchMethod method = SearchMethod::beam;
  SearchOptions options;  // its `prefixes` and `sentences` are one per source; its observer is called by many threads
  BatchLimits batch;
  std::shared_ptr<const Shortlist> shortlist = {};  // the words that may be written for each source; nothing: all
  // Of a single model whose weights do not change: what spares greedy search most scores; nothing: it has them all.
  std::shared_ptr<WordScreen> screen = {};
  ExtractiveValues extractive = {};  // what words that stand in the text get besides (search/extractive.h)
};

// The hypotheses of every sample, in the order given; its output is not looked at. Samples of like length are searched
// together, each batch by one thread, and all threads get some; what comes out for a sample depends on none of that.
Hypotheses search_batches(std::span<const Writer* const> writers, std::span<const EncodedSample> samples,
                          const BatchedSearch& search, ThreadPool& threads);

// The probability of every label or choice for each sample, the mean of the models'; likewise in batches. `on_step`, if
// there is one, is called before every batch and model, by many threads; what it throws ends the work.
std::vector<std::vector<double>> choose_batches(std::span<const Chooser* const> choosers,
                                                std::span<const EncodedSample> samples, const BatchLimits& limits,
                                                ThreadPool& threads, const std::function<void()>& on_step = {});

// Numbers of the samples cut into batches of like length, long ones first.
std::vector<std::vector<std::size_t>> batches_by_length(std::span<const std::size_t> lengths,
                                                        const BatchLimits& limits);

// The same in smaller batches if there are few samples, so that all threads get some.
std::vector<std::vector<std::size_t>> batches_for(const ThreadPool& threads, std::span<const std::size_t> lengths,
                                                  const BatchLimits& limits);

// The chosen samples as one batch.
SampleBatch chosen_batch(std::span<const EncodedSample> samples, std::span<const std::size_t> chosen, bool gives_label);

// The length by which samples are put together: that of the longest input or output, with its end.
std::size_t batch_length(const EncodedSample& sample);
// The words of a text as ids of the words that can be written about it.
const std::vector<std::int32_t>& written_words(const EncodedInput& input);

// Calls job(i) for every i below count; each thread takes the next that is free. The caller does all of it while the
// threads work for somebody else.
void for_each_batch(ThreadPool& threads, std::size_t count, const std::function<void(std::size_t)>& job);

}  // namespace heed
