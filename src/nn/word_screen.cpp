#include "heed/nn/word_screen.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/threads.h"
#include "heed/kernels/int8.h"
#include "heed/kernels/screen.h"

namespace heed {
namespace {

constexpr Index kMostInputs = 65536;  // whose sum of products fits 32 bits

// What the rounding of sums of n numbers may add to a bound, as a share of the sizes that are summed; several times
// what is needed.
Real rounding_of(Index n) { return static_cast<Real>(n + 32) * Real{0x1p-22F}; }

double norm_of(Index n, const Real* x) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return std::sqrt(sum);
}

}  // namespace

struct WordScreen::Rounded {
  Tensor weight;  // as given: while it is held no other weights stand in its place
  Index inputs, words;
  bool finite = true;
  Bytes panels;
  Tensor scales, errors, norms, low, high;

  Rounded(const Tensor& given, const Var& bias, Transposed flip)
      : weight(given),
        inputs(given.size(flip.b ? 1 : 0)),
        words(given.size(flip.b ? 0 : 1)),
        panels(Shape{kernels::Int8Panels::bytes(inputs, words)}),
        scales(Shape{words}),
        errors(Shape{words}),
        norms(Shape{words}),
        low(Shape{words}),
        high(Shape{words}) {
    const Tensor from = given.contiguous();
    const Tensor added = bias ? bias.value().contiguous() : Tensor();
    const Real slack = rounding_of(inputs);
    Bytes numbers(Shape{words, inputs});
    std::atomic<bool> all_finite{true};
    constexpr Index kBlock = 16;  // words whose numbers stand side by side in a row of [in, words]
    parallel_for((words + kBlock - 1) / kBlock, 16, [&](Index begin, Index end) {
      std::vector<Real> block(static_cast<std::size_t>(kBlock * inputs));
      for (Index first = begin * kBlock; first < std::min(end * kBlock, words); first += kBlock) {
        const Index count = std::min(kBlock, words - first);
        if (flip.b) {
          std::copy_n(from.data() + first * inputs, count * inputs, block.begin());
        } else {
          for (Index k = 0; k < inputs; ++k)
            for (Index j = 0; j < count; ++j)
              block[static_cast<std::size_t>(j * inputs + k)] = from.data()[k * words + first + j];
        }
        for (Index j = 0; j < count; ++j) {
          const Index word = first + j;
          Real* const row = block.data() + j * inputs;
          std::int8_t* const rounded = numbers.data() + word * inputs;
          const Real scale = kernels::int8_round(inputs, row, rounded), b = added ? added.data()[word] : 0;
          const double norm = norm_of(inputs, row);
          for (Index k = 0; k < inputs; ++k) row[k] -= scale * static_cast<Real>(rounded[k]);
          const double error = norm_of(inputs, row);
          scales.data()[word] = scale;
          errors.data()[word] = static_cast<Real>(error) + slack * static_cast<Real>(norm);
          norms.data()[word] = static_cast<Real>(norm + error);
          low.data()[word] = b - slack * std::abs(b);
          high.data()[word] = b + slack * std::abs(b);
          if (!std::isfinite(scale) || !std::isfinite(norm) || !std::isfinite(b)) all_finite = false;
        }
      }
    });
    finite = all_finite;
    kernels::int8_pack(inputs, words, {numbers.data(), 1, inputs}, panels.data());
  }
};

std::shared_ptr<const WordScreen::Rounded> WordScreen::rounded(const Tensor& weight, const Var& bias, Transposed flip) {
  const std::lock_guard lock(making_);
  if (!rounded_) rounded_ = std::make_shared<const Rounded>(weight, bias, flip);
  return rounded_;
}

Ids WordScreen::possible(const Tensor& x, const Var& weight, const Var& bias, Transposed flip) {
  if (weight.held_in_int8() || weight.value().size() < limits_.least_weights ||
      weight.size(flip.b ? 1 : 0) > kMostInputs)
    return {};
  const Index inputs = x.size(-1), rows = x.size() / inputs;
  if (rows_.fetch_add(rows, std::memory_order_relaxed) < limits_.rows_before || failures_.load() > limits_.failures)
    return {};
  const std::shared_ptr<const Rounded> by = rounded(weight.value(), bias, flip);
  if (by->weight.data() != weight.value().data() || !by->finite) return {};

  const Tensor in = x.contiguous();
  const Index width = kernels::Int8Panels::quads(inputs) * kernels::kInt8Quad;
  TensorOf<std::uint8_t> numbers(Shape{rows, width});
  Tensor scales(Shape{rows}), about(Shape{rows, by->words});
  kernels::int8_quantise(rows, inputs, in.data(), inputs, numbers.data(), scales.data());
  kernels::int8_product({rows, numbers.data(), scales.data()},
                        {inputs, by->words, by->panels.data(), by->scales.data()}, 0, by->words, false, about.data(),
                        by->words);

  std::vector<std::uint8_t> marks(static_cast<std::size_t>(by->words));
  const kernels::Margins margins{by->errors.data(), by->norms.data(), by->low.data(), by->high.data()};
  const Real more = 1 + rounding_of(0);
  for (Index row = 0; row < rows; ++row) {
    const Real* const given = in.data() + row * inputs;
    double left = 0;
    for (Index k = 0; k < inputs; ++k) {
      const int number = int{numbers.data()[row * width + k]} - 128;
      const double off = static_cast<double>(given[k]) - static_cast<double>(scales.data()[row]) * number;
      left += off * off;
    }
    const double norm = norm_of(inputs, given);
    if (!std::isfinite(norm) || !kernels::mark_possible_largest(
                                    by->words, about.data() + row * by->words, margins, static_cast<Real>(norm) * more,
                                    static_cast<Real>(std::sqrt(left)) * more, marks.data()))
      return {};
  }
  std::vector<std::int32_t> words;
  for (std::size_t word = 0; word < marks.size(); ++word)
    if (marks[word] != 0) words.push_back(static_cast<std::int32_t>(word));
  const bool few = static_cast<Index>(words.size()) * limits_.share <= by->words;
  few ? --failures_ : ++failures_;
  if (!few) return {};
  return Ids(Shape{static_cast<Index>(words.size())}, words);
}

}  // namespace heed
