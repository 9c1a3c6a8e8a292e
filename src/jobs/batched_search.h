#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/models/system.h"
#include "heed/search/search.h"
#include "heed/base/thread_pool.h"

namespace heed {

enum class SearchMethod { greedy, beam, sample };
// "greedy", "beam" or "sample"; an Error otherwise.
SearchMethod search_method_named(const std::string& name);

struct BatchedSearch {
  SearchMethod method = SearchMethod::beam;
  SearchOptions options;  // its `prefixes` and `sentences` are one a source; its observer is called by many threads
  Index batch_sentences = 64;
  Index batch_words = 4096;  // of the sources, padded
};

// The hypotheses of every source (ids without the end), in the order given. Sources of like length are searched
// together, each batch by one thread, and all threads get some; what comes out for a source depends on none of that.
Hypotheses search_batches(std::span<const Writer* const> models,
                          std::span<const std::vector<std::int32_t>> sources, const BatchedSearch& search,
                          ThreadPool& threads);

// Numbers of the sentences cut into batches of like length, long ones first.
std::vector<std::vector<std::size_t>> batches_by_length(std::span<const std::size_t> lengths, Index batch_sentences,
                                                        Index batch_words);

// The same in smaller batches if there are few sentences, so that all threads get some.
std::vector<std::vector<std::size_t>> batches_for(const ThreadPool& threads, std::span<const std::size_t> lengths,
                                                  Index batch_sentences, Index batch_words);

// The chosen sentences, each with the end behind it, padded.
Source with_end(std::span<const std::vector<std::int32_t>> sentences, std::span<const std::size_t> chosen);

// What a model reads while it is forced to write the chosen sentences: [begin, y1..yn] of each; and what it is expected
// to write, [y1..yn, end].
struct ForcedTargets {
  Source previous, expected;
};
ForcedTargets forced_targets(std::span<const std::vector<std::int32_t>> sentences, std::span<const std::size_t> chosen);

// Calls job(i) for every i below count; each thread takes the next that is free.
void for_each_batch(ThreadPool& threads, std::size_t count, const std::function<void(std::size_t)>& job);

}  // namespace heed
