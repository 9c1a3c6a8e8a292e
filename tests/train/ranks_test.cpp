#include "heed/train/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <mutex>

#include "heed/base/random.h"
#include "heed/train/launch.h"
#include "heed/train/sum_tree.h"
#include "support/thread_ranks.h"

namespace heed {
namespace {

using test::ThreadRanks;
using namespace std::string_literals;

std::vector<Real> numbers_of(int rank, std::size_t count) {
  RandomSequence random(RandomKey{static_cast<std::uint64_t>(rank), 7});
  std::vector<Real> numbers(count);
  for (Real& number : numbers) number = static_cast<Real>(random.below(1'000'000)) / Real{777} - Real{600};
  return numbers;
}

// ((0 + 1) + (2 + 3)) + ..., one number at a time.
std::vector<Real> sum_in_tree(int size, std::size_t count) {
  std::vector<std::vector<Real>> parts;
  for (int rank = 0; rank < size; ++rank) parts.push_back(numbers_of(rank, count));
  for (std::size_t stride = 1; stride < parts.size(); stride *= 2)
    for (std::size_t i = 0; i + stride < parts.size(); i += 2 * stride)
      for (std::size_t n = 0; n < count; ++n) parts[i][n] += parts[i + stride][n];
  return parts[0];
}

TEST(RanksOfThreads, SumInTheTreesOrder) {
  for (const int size : {1, 2, 3, 4, 5, 6, 7, 8})
    for (const std::size_t count : {1, 17, 8192, 8193, 300'001}) {
      const std::vector<Real> expected = sum_in_tree(size, count);
      ThreadRanks all(size);
      all.run([&](const std::shared_ptr<Ranks>& ranks) {
        std::vector<Real> numbers = numbers_of(ranks->rank(), count);
        ranks->sum(numbers);
        EXPECT_EQ(numbers, expected) << size << " ranks, " << count << " numbers";
      });
      // No rank sends more than about twice the numbers.
      for (int rank = 0; size > 1 && count > 100'000 && rank < size; ++rank) {
        EXPECT_LT(all.sent(rank), 2.01 * count * sizeof(Real)) << size;
      }
    }
}

TEST(RanksOfThreads, SumOfBf16IsTheSameEverywhereAndClose) {
  for (const int size : {2, 3, 4, 8}) {
    const std::size_t count = 200'001;
    const std::vector<Real> expected = sum_in_tree(size, count);
    std::vector<std::vector<Real>> sums(static_cast<std::size_t>(size));
    ThreadRanks all(size);
    all.run([&](const std::shared_ptr<Ranks>& ranks) {
      std::vector<Real>& sum = sums[static_cast<std::size_t>(ranks->rank())];
      sum = numbers_of(ranks->rank(), count);
      ranks->sum(sum, Wire::bf16);
    });
    for (const std::vector<Real>& sum : sums) EXPECT_EQ(sum, sums[0]);
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < count; ++i)
      error += std::pow(sums[0][i] - expected[i], 2), norm += std::pow(expected[i], 2);
    EXPECT_GT(error, 0);
    EXPECT_LT(std::sqrt(error / norm), 0.005);  // half a unit of 8 bits, a few times
    EXPECT_LT(all.sent(0), 2.1 * count * sizeof(std::uint16_t));
  }
}

TEST(RanksOfThreads, GatherShareAndTheFirst) {
  for (const int size : {1, 2, 3, 5, 8})
    ThreadRanks(size).run([&](const std::shared_ptr<Ranks>& ranks) {
      const std::string own(static_cast<std::size_t>(ranks->rank()), 'x');
      const std::vector<std::string> all = ranks->gather(own + "\0."s);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], std::string(i, 'x') + "\0."s);
      EXPECT_EQ(ranks->from_first("of " + std::to_string(ranks->rank())), "of 0");
      std::vector<Real> numbers = numbers_of(ranks->rank(), 200'000);
      ranks->share(numbers);
      EXPECT_EQ(numbers, numbers_of(0, 200'000));
    });
}

TEST(RanksOfThreads, ErrorsAreEverybodys) {
  ThreadRanks(3).run([&](const std::shared_ptr<Ranks>& ranks) {
    const auto text_of = [&](const std::function<void()>& work) {
      try {
        ranks->together(work);
      } catch (const ErrorOfRanks& error) {
        EXPECT_EQ(static_cast<bool>(error.own()), std::string(error.what()) == "all");
        EXPECT_EQ(error.is_shown_here(), ranks->first());
        return std::string(error.what());
      }
      return std::string();
    };
    EXPECT_EQ(text_of([] {}), "");
    EXPECT_EQ(text_of([&] { require(ranks->rank() != 1, "bad"); }), "rank 1 of 3 (machine1): bad");
    EXPECT_EQ(text_of([&] { fail("{}", ranks->rank() == 0 ? "one" : "another"); }), "rank 0 of 3 (machine0): one");
    EXPECT_EQ(text_of([&] { fail("all"); }), "all");
    bool ran = false;
    ranks->once([&] { ran = true; });
    EXPECT_EQ(ran, ranks->first());
    try {
      ranks->once([] { fail("only the first"); });
      ADD_FAILURE();
    } catch (const ErrorOfRanks& error) {
      EXPECT_STREQ(error.what(), "only the first");
    }
  });
}

// A rank that gives no answer is named by the lowest that waits, and all end.
TEST(RanksOfThreads, ARankThatHangsIsNamed) {
  testing::internal::CaptureStderr();
  std::mutex mutex;
  int aborted = 0;
  ThreadRanks(4).run([&](const std::shared_ptr<Ranks>& ranks) {
    if (ranks->rank() == 1) return;  // it never answers
    ranks->set_patience(0.2);
    EXPECT_THROW(ranks->gather("here"), std::runtime_error);
    const std::lock_guard lock(mutex);
    ++aborted;
  });
  EXPECT_EQ(aborted, 3);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said,
            "heed: rank 1 of 4 (machine1) gives no answer: waited 0 s; the training ends, and its last checkpoint "
            "stays\n");
}

TEST(SumTree, AdditionsOfPartsThatAreThere) {
  const auto text = [](const std::vector<bool>& there) {
    std::string all;
    for (const Addition& addition : additions_in_tree(there)) all += fmt::format("{}+{} ", addition.to, addition.from);
    return all;
  };
  EXPECT_EQ(text({true, true, true, true}), "0+1 2+3 0+2 ");
  EXPECT_EQ(text({true, true, true}), "0+1 0+2 ");
  EXPECT_EQ(text({false, true, false, true}), "1+3 ");
  EXPECT_EQ(text({false, false, true, true, true}), "2+3 2+4 ");
  EXPECT_EQ(text({false}), "");
}

TEST(LaunchedRanks, AreOneWithoutALauncher) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"})
    ASSERT_EQ(std::getenv(variable), nullptr) << variable;
  EXPECT_TRUE(is_first_process());
  EXPECT_TRUE(launched_ranks()->alone());
  EXPECT_EQ(launched_ranks()->rank(), 0);
  bool worked = false;
  work_as_rank([&](const std::shared_ptr<Ranks>& ranks) { worked = ranks->first(); });
  EXPECT_TRUE(worked);
}

}  // namespace
}  // namespace heed
