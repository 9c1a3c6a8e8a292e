#include "heed/nn/word_screen.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "heed/kernels/int8.h"
#include "heed/kernels/screen.h"

namespace heed {
namespace {

// What the rounding of sums of n numbers may add to a bound, as a share of the sizes that are summed; several times
// what is needed.
Real rounding_of(Index n) { return static_cast<Real>(n + 32) * Real{0x1p-22F}; }

double norm_of(Index n, const Real* x) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return std::sqrt(sum);
}

// √Σ w² of each word, whose numbers are a row or, without flip.b, a column.
std::vector<double> norms_of_words(const Tensor& weight, Transposed flip) {
  const Index columns = weight.size(1);
  std::vector<double> norms(static_cast<std::size_t>(weight.size(flip.b ? 0 : 1)));
  for (Index row = 0; row < weight.size(0); ++row)
    for (Index column = 0; column < columns; ++column) {
      const auto number = static_cast<double>(weight.data()[row * columns + column]);
      norms[static_cast<std::size_t>(flip.b ? row : column)] += number * number;
    }
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

bool all_finite(std::span<const double> list) {
  return std::all_of(list.begin(), list.end(), [](double each) { return std::isfinite(each); });
}

}  // namespace

struct WordScreen::Rounded {
  Tensor weight;                      // as given: while it is held no other weights stand in its place
  std::optional<Int8Weight> numbers;  // nothing: some are not finite
  Tensor errors, norms, low, high;    // see Margins

  Rounded(const Tensor& given, const Var& bias, Transposed flip) : weight(given) {
    const Index words = given.size(flip.b ? 0 : 1);
    const Tensor from = given.contiguous(), added = bias ? bias.value().contiguous() : Tensor(Shape{words}, Real{0});
    const std::vector<double> sizes = norms_of_words(from, flip);
    if (!all_finite(sizes) || !std::isfinite(norm_of(words, added.data()))) return;
    numbers.emplace(from, flip.b ? Int8Weight::Outputs::first : Int8Weight::Outputs::last);
    Tensor left(from.shape());
    numbers->unpack(left);
    for (Index i = 0; i < left.size(); ++i) left.data()[i] = from.data()[i] - left.data()[i];
    const std::vector<double> lost = norms_of_words(left, flip);
    const Real slack = rounding_of(from.size() / words);
    for (Tensor* list : {&errors, &norms, &low, &high}) *list = Tensor(Shape{words});
    for (Index word = 0; word < words; ++word) {
      const double size = sizes[static_cast<std::size_t>(word)], error = lost[static_cast<std::size_t>(word)];
      const Real b = added.data()[word];
      errors.data()[word] = static_cast<Real>(error) + slack * static_cast<Real>(size);
      norms.data()[word] = static_cast<Real>(size + error);
      low.data()[word] = b - slack * std::abs(b);
      high.data()[word] = b + slack * std::abs(b);
    }
  }
};

WordScreen::WordScreen(const Limits& limits) : limits_(limits) {}
WordScreen::~WordScreen() = default;

Ids WordScreen::possible(const Tensor& x, const Var& weight, const Var& bias, Transposed flip) {
  if (weight.held_in_int8() || weight.value().size() < limits_.least_weights ||
      weight.size(flip.b ? 1 : 0) > Int8Weight::kMostInputs)
    return {};
  const Index inputs = x.size(-1), rows = x.size() / inputs;
  if (rows_.fetch_add(rows, std::memory_order_relaxed) < limits_.rows_before || failures_.load() > limits_.failures)
    return {};
  std::call_once(making_, [&] { rounded_ = std::make_unique<const Rounded>(weight.value(), bias, flip); });
  if (rounded_->weight.data() != weight.value().data() || !rounded_->numbers) return {};

  const Tensor in = x.contiguous();
  const kernels::Int8Panels panels = rounded_->numbers->panels();
  const Index words = panels.outputs, width = kernels::Int8Panels::quads(inputs) * kernels::kInt8Quad;
  TensorOf<std::uint8_t> numbers(Shape{rows, width});
  Tensor scales(Shape{rows}), about(Shape{rows, words});
  kernels::int8_quantise(rows, inputs, in.data(), inputs, numbers.data(), scales.data());
  kernels::int8_product({rows, numbers.data(), scales.data()}, panels, 0, words, false, about.data(), words);

  std::vector<std::uint8_t> marks(static_cast<std::size_t>(words));
  const kernels::Margins margins{rounded_->errors.data(), rounded_->norms.data(), rounded_->low.data(),
                                 rounded_->high.data()};
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
    if (!std::isfinite(norm) ||
        !kernels::mark_possible_largest(words, about.data() + row * words, margins, static_cast<Real>(norm) * more,
                                        static_cast<Real>(std::sqrt(left)) * more, marks.data()))
      return {};
  }
  std::vector<std::int32_t> possible;
  for (std::size_t word = 0; word < marks.size(); ++word)
    if (marks[word] != 0) possible.push_back(static_cast<std::int32_t>(word));
  const bool few = static_cast<Index>(possible.size()) * limits_.share <= words;
  few ? --failures_ : ++failures_;
  if (!few) return {};
  return Ids(Shape{static_cast<Index>(possible.size())}, possible);
}

}  // namespace heed
