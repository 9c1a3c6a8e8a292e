#include <gtest/gtest.h>

#include <set>

#include "heed/data/words.h"
#include "heed/jobs/batched_search.h"
#include "models/translation_cases.h"
#include "support/kernel_testing.h"

namespace heed::test {
namespace {

std::shared_ptr<const Vocabulary> vocabulary(const char* letters) {
  std::string text = "<unk>\n<s>\n</s>\n";
  for (; *letters != 0; ++letters) text += std::string(1, *letters) + "\n";
  return words_from(text, "words", WordCutting::white_space);
}

class ShortlistSearch : public testing::TestWithParam<SystemVariant> {
 protected:
  ShortlistSearch() {
    for (const auto& words : std::vector<std::vector<std::int32_t>>{{3, 4}, {5}, {6, 7, 8, 3}, {9, 4, 10}})
      samples_.emplace_back().inputs.emplace_back().words = words;
  }

  // Each source word may be translated by two; `first` words always may.
  std::shared_ptr<const Shortlist> list(std::size_t first) const {
    std::vector<LinkCounts::Entry> entries;
    for (std::int32_t word = 3; word < kSourceWords; ++word)
      for (const std::int32_t target : {word, word == 10 ? 3 : word + 1}) entries.push_back({word, target, 0.5F});
    return std::make_shared<const Shortlist>(entries, *vocabulary("abcdefgh"), *vocabulary("ijklmnop"),
                                             Shortlist::Limits{.first = first});
  }
  static std::set<std::int32_t> own_words(const Shortlist& shortlist, const EncodedSample& sample) {
    const auto allowed = shortlist.allowed(sample.inputs.front().words);
    return {allowed.begin(), allowed.end()};
  }
  Hypotheses found(const std::shared_ptr<const Shortlist>& shortlist, Index together = 64) {
    BatchedSearch search;
    search.shortlist = shortlist;
    search.batch.samples = together;
    search.options.beam = 3, search.options.best = 2;
    search.options.prefixes = prefixes_;
    ThreadPool threads(1);
    const Writer* const writers[] = {tiny_.model.get()};
    return search_batches(writers, samples_, search, threads);
  }

  TinyModel tiny_{GetParam()};
  std::vector<EncodedSample> samples_;
  std::vector<std::vector<std::int32_t>> prefixes_;
};

std::vector<SystemVariant> readers_of_texts() {
  std::vector<SystemVariant> systems = every_system();
  std::erase_if(systems, [](const SystemVariant& variant) {
    return system_named(variant.system).job == "recognition" || system_named(variant.system).job == "captioning";
  });
  return systems;
}
INSTANTIATE_TEST_SUITE_P(Writers, ShortlistSearch, testing::ValuesIn(readers_of_texts()),
                         [](const auto& at) { return at.param.name(); });

void expect_equal(const Hypotheses& got, const Hypotheses& want, double tolerance = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size());
    for (std::size_t k = 0; k < want[i].size(); ++k) {
      EXPECT_EQ(got[i][k].words, want[i][k].words);
      EXPECT_NEAR(got[i][k].log_probability, want[i][k].log_probability, tolerance);
    }
  }
}

TEST_P(ShortlistSearch, OfAllWordsChangesNothing) { expect_equal(found(list(kTargetWords)), found(nullptr), 1e-4); }

TEST_P(ShortlistSearch, WritesWhatASourceMayWhateverStandsBesideIt) {
  const auto shortlist = list(0);
  const Hypotheses together = found(shortlist);
  expect_equal(found(shortlist, 1), together);
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const std::set<std::int32_t> own = own_words(*shortlist, samples_[i]);
    EXPECT_LT(own.size(), static_cast<std::size_t>(kTargetWords));
    for (const Hypothesis& each : together[i])
      for (const std::int32_t word : each.words) EXPECT_TRUE(own.contains(word)) << word;
  }
}

TEST_P(ShortlistSearch, APrefixMayHaveOtherWords) {
  prefixes_ = {{10}, {10, 9}, {3}, {6}};
  const Hypotheses results = found(list(0));
  for (std::size_t i = 0; i < prefixes_.size(); ++i)
    for (const Hypothesis& each : results[i]) {
      ASSERT_GE(each.words.size(), prefixes_[i].size());
      EXPECT_TRUE(std::equal(prefixes_[i].begin(), prefixes_[i].end(), each.words.begin()));
    }
}

}  // namespace
}  // namespace heed::test
