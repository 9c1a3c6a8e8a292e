#include "heed/kernels/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/ref/recurrent.h"

namespace heed::test {
namespace {

using kernels::GruShape;
using kernels::UpdateGate;
using Numbers = std::vector<Real>;

Numbers random_numbers(Index count, std::uint64_t stream, double low = -4, double high = 4) {
  RandomSequence random(RandomKey{11, stream});
  Numbers numbers(static_cast<std::size_t>(count));
  for (Real& x : numbers) x = static_cast<Real>(low + (high - low) * random.uniform());
  return numbers;
}

// Arrays at an odd address with a guard behind them: out-of-range writes and alignment assumptions show.
class Array {
 public:
  explicit Array(const Numbers& numbers) : memory_(numbers.size() + 2, kGuard) {
    std::copy(numbers.begin(), numbers.end(), memory_.begin() + 1);
  }
  Real* data() { return memory_.data() + 1; }
  void expect_near(Array& other, const char* what) {
    EXPECT_EQ(memory_.front(), kGuard) << what;
    EXPECT_EQ(memory_.back(), kGuard) << what;
    for (std::size_t i = 1; i + 1 < memory_.size(); ++i)
      ASSERT_NEAR(memory_[i], other.memory_[i], 2e-6 * std::max(Real{1}, std::abs(other.memory_[i])))
          << what << " element " << i - 1;
  }

 private:
  static constexpr Real kGuard = 12345;
  Numbers memory_;
};

// Runs a kernel and its twin on the same arrays, and compares every array afterwards.
using Kernel = std::function<void(std::vector<Array>&)>;
void compare_recurrent(const std::vector<Numbers>& arrays, const Kernel& fast, const Kernel& twin) {
  std::vector<Array> ours(arrays.begin(), arrays.end()), theirs(arrays.begin(), arrays.end());
  fast(ours);
  twin(theirs);
  for (std::size_t i = 0; i < arrays.size(); ++i)
    ours[i].expect_near(theirs[i], ("array " + std::to_string(i)).c_str());
}

class RecurrentKernels : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { kernels::use_simd_target(GetParam()); }
  void TearDown() override { kernels::use_simd_target(""); }
  // Every number of units from none to beyond two vectors, with no, one and several rows.
  template <class Body>
  void over_sizes(const Body& body) {
    for (Index hidden = 0; hidden <= 35; ++hidden)
      for (const Index rows : {0, 1, 3}) {
        SCOPED_TRACE("rows " + std::to_string(rows) + " hidden " + std::to_string(hidden));
        body(rows, hidden);
        if (::testing::Test::HasFatalFailure()) return;
      }
  }
};

TEST_P(RecurrentKernels, LstmMatchesItsTwin) {
  over_sizes([](Index rows, Index n) {
    for (const bool bias : {false, true}) {
      const Index units = rows * n;
      compare_recurrent(
          {random_numbers(4 * n, 1), random_numbers(units, 2), random_numbers(4 * units, 3), Numbers(units),
           Numbers(units)},
          [&](auto& a) {
            kernels::lstm_forward(rows, n, bias ? a[0].data() : nullptr, a[1].data(), a[2].data(), a[3].data(),
                                  a[4].data());
          },
          [&](auto& a) {
            kernels::ref::lstm_forward(rows, n, bias ? a[0].data() : nullptr, a[1].data(), a[2].data(), a[3].data(),
                                       a[4].data());
          });
      compare_recurrent(
          {random_numbers(units, 4), random_numbers(units, 5), random_numbers(4 * units, 6, 0, 1),
           random_numbers(units, 7)},
          [&](auto& a) { kernels::lstm_backward(rows, n, a[0].data(), a[1].data(), a[2].data(), a[3].data()); },
          [&](auto& a) { kernels::ref::lstm_backward(rows, n, a[0].data(), a[1].data(), a[2].data(), a[3].data()); });
    }
  });
}

TEST_P(RecurrentKernels, GruWithResetAfterMatchesItsTwin) {
  for (const UpdateGate update : {UpdateGate::keeps_state, UpdateGate::takes_candidate}) {
    over_sizes([&](Index rows, Index n) {
      const Index units = rows * n;
      const GruShape shape{rows, n, update};
      for (const bool bias : {false, true}) {
        const auto biases = [&](auto& a) {
          return bias ? kernels::GruBiases{a[0].data(), a[1].data()} : kernels::GruBiases{nullptr, nullptr};
        };
        compare_recurrent(
            {random_numbers(3 * n, 1), random_numbers(n, 2), random_numbers(3 * units, 3), random_numbers(units, 4),
             random_numbers(3 * units, 5), Numbers(units), Numbers(units)},
            [&](auto& a) {
              kernels::gru_after_forward(shape, biases(a), a[2].data(), a[3].data(), a[4].data(), a[5].data(),
                                         a[6].data());
            },
            [&](auto& a) {
              kernels::ref::gru_after_forward(shape, biases(a), a[2].data(), a[3].data(), a[4].data(), a[5].data(),
                                              a[6].data());
            });
      }
      compare_recurrent(
          {random_numbers(units, 6), random_numbers(3 * units, 7, 0, 1), random_numbers(units, 8),
           random_numbers(units, 9)},
          [&](auto& a) { kernels::gru_after_backward(shape, a[0].data(), a[1].data(), a[2].data(), a[3].data()); },
          [&](auto& a) {
            kernels::ref::gru_after_backward(shape, a[0].data(), a[1].data(), a[2].data(), a[3].data());
          });
    });
  }
}

TEST_P(RecurrentKernels, GruWithResetBeforeMatchesItsTwin) {
  for (const UpdateGate update : {UpdateGate::keeps_state, UpdateGate::takes_candidate}) {
    over_sizes([&](Index rows, Index n) {
      const Index units = rows * n;
      const GruShape shape{rows, n, update};
      for (const bool bias : {false, true}) {
        const auto b = [&](auto& a) { return bias ? a[0].data() : nullptr; };
        const std::vector<Numbers> arrays{random_numbers(3 * n, 1), random_numbers(units, 2),
                                          random_numbers(3 * units, 3), Numbers(units)};
        compare_recurrent(
            arrays, [&](auto& a) { kernels::gru_before_gates(shape, b(a), a[1].data(), a[2].data(), a[3].data()); },
            [&](auto& a) { kernels::ref::gru_before_gates(shape, b(a), a[1].data(), a[2].data(), a[3].data()); });
        compare_recurrent(
            arrays, [&](auto& a) { kernels::gru_before_state(shape, b(a), a[1].data(), a[2].data(), a[3].data()); },
            [&](auto& a) { kernels::ref::gru_before_state(shape, b(a), a[1].data(), a[2].data(), a[3].data()); });
      }
      const std::vector<Numbers> arrays{random_numbers(units, 4), random_numbers(units, 5),
                                        random_numbers(3 * units, 6, 0, 1), random_numbers(units, 7)};
      compare_recurrent(
          arrays, [&](auto& a) { kernels::gru_before_backward_state(shape, a[0].data(), a[2].data(), a[3].data()); },
          [&](auto& a) { kernels::ref::gru_before_backward_state(shape, a[0].data(), a[2].data(), a[3].data()); });
      compare_recurrent(
          arrays,
          [&](auto& a) {
            kernels::gru_before_backward_gates(shape, a[0].data(), a[1].data(), a[2].data(), a[3].data());
          },
          [&](auto& a) {
            kernels::ref::gru_before_backward_gates(shape, a[0].data(), a[1].data(), a[2].data(), a[3].data());
          });
    });
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, RecurrentKernels, ::testing::ValuesIn(kernels::simd_targets()),
                         [](const auto& target) { return target.param; });

TEST(RecurrentTranspose, MatchesItsTwinAtOddSizes) {
  for (const Index rows : {0, 1, 15, 16, 17, 40})
    for (const Index columns : {0, 1, 16, 33, 700})
      compare_recurrent(
          {random_numbers(rows * columns, 1), Numbers(static_cast<std::size_t>(rows * columns))},
          [&](auto& a) { kernels::transpose(rows, columns, a[0].data(), a[1].data()); },
          [&](auto& a) { kernels::ref::transpose(rows, columns, a[0].data(), a[1].data()); });
}

}  // namespace
}  // namespace heed::test
