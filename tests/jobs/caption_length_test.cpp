#include <gtest/gtest.h>

#include "heed/jobs/batched_search.h"
#include "models/translation_cases.h"
#include "support/kernel_testing.h"

namespace heed::test {
namespace {

// Words of a caption whose search never ends by itself.
std::size_t words_of_endless_caption(Index regions, double factor, Index extra) {
  const TinyModel tiny(SystemVariant{"show-attend-tell", {}});
  EncodedSample sample;
  EncodedInput& image = sample.inputs.emplace_back();
  image.features = Tensor(Shape{regions, kSourceWords}, normal_values(regions * kSourceWords, 1));
  image.whole = true;
  BatchedSearch search;
  search.options.beam = 2;
  search.options.longest_factor = factor, search.options.longest_extra = extra;
  search.options.allows = [end = search.options.end](Index, std::span<const std::int32_t>) {
    return AllowsNext([end](std::int32_t next) { return next != end; });
  };
  ThreadPool threads(1);
  const Writer* const writers[] = {tiny.model.get()};
  return search_batches(writers, {&sample, 1}, search, threads).front().front().words.size();
}

// Twice as many words as regions would be 402 of a picture of 14 × 14.
TEST(CaptionLength, DoesNotGrowWithTheRegions) {
  EXPECT_EQ(words_of_endless_caption(196, 2, 10), 50U);
  EXPECT_EQ(words_of_endless_caption(4, 2, 10), 18U);
  EXPECT_EQ(words_of_endless_caption(196, 0, 7), 7U);
}

}  // namespace
}  // namespace heed::test
