#include "heed/align/diagonal_model.h"

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr double kLoosest = 0.1, kTensest = 20;

// The given words before the diagonal, and those behind it, from the nearest on: e^{λh} of the k-th is first · ratio^k.
struct Side {
  double distance = 0;  // of the nearest, -h
  double first = 0;
  std::size_t words = 0;
};
struct Sides {
  double ratio = 0, step = 0;  // from one word to the next one further away, of e^{λh} and of -h
  Side before, behind;

  Sides(double tension, std::size_t j, std::size_t given, std::size_t written)
      : ratio(std::exp(-tension / static_cast<double>(given))), step(1 / static_cast<double>(given)) {
    const double here = static_cast<double>(j) / static_cast<double>(written);
    before.words = j * given / written;
    behind.words = given - before.words;
    before.distance = here - static_cast<double>(before.words) * step;
    behind.distance = static_cast<double>(before.words + 1) * step - here;
    before.first = std::exp(-tension * before.distance);
    behind.first = std::exp(-tension * behind.distance);
  }
  // Σ_k first ratio^k
  double sum(const Side& side) const {
    return side.first * (1 - std::pow(ratio, static_cast<double>(side.words))) / (1 - ratio);
  }
  // Σ_k first ratio^k (distance + k step)
  double distances(const Side& side) const {
    if (side.words == 0) return 0;
    const auto n = static_cast<double>(side.words);
    const double last = std::pow(ratio, n - 1);
    const double steps = ratio * (1 - n * last + (n - 1) * last * ratio) / ((1 - ratio) * (1 - ratio));
    return side.distance * sum(side) + side.first * step * steps;
  }
};

}  // namespace

void DiagonalModel::posteriors(std::size_t given, std::size_t written, std::span<float> matrix, Counts& counts) const {
  double distance = 0, linked = 0;
  for (std::size_t j = 1; j <= written; ++j) {
    const Sides sides(tension_, j, given, written);
    float* const row = matrix.data() + (j - 1) * (given + 1);
    const double scale = (1 - null_probability_) / (sides.sum(sides.before) + sides.sum(sides.behind));
    const auto ratio = static_cast<float>(sides.ratio);
    row[0] *= static_cast<float>(null_probability_);
    float total = row[0];
    auto prior = static_cast<float>(scale * sides.before.first);
    for (std::size_t i = sides.before.words; i >= 1; --i, prior *= ratio) total += row[i] *= prior;
    prior = static_cast<float>(scale * sides.behind.first);
    for (std::size_t i = sides.before.words + 1; i <= given; ++i, prior *= ratio) total += row[i] *= prior;
    const float share = 1 / total;
    const float step = static_cast<float>(sides.step), here = static_cast<float>(j) / static_cast<float>(written);
    float distances = 0;
    row[0] *= share;
    for (std::size_t i = 1; i <= given; ++i) {
      row[i] *= share;
      distances += row[i] * std::abs(static_cast<float>(i) * step - here);
    }
    distance += distances;
    linked += 1 - row[0];
  }
  counts.distance += to_expected(distance);
  counts.linked += to_expected(std::max(linked, 0.0));
}

double DiagonalModel::probability(std::size_t i, std::size_t j, std::size_t given, std::size_t written) const {
  const Sides sides(tension_, j, given, written);
  const double h = -std::abs(static_cast<double>(i) / static_cast<double>(given) -
                             static_cast<double>(j) / static_cast<double>(written));
  return std::exp(tension_ * h) / (sides.sum(sides.before) + sides.sum(sides.behind));
}

double DiagonalModel::expected_h(std::size_t j, std::size_t given, std::size_t written) const {
  const Sides sides(tension_, j, given, written);
  return -(sides.distances(sides.before) + sides.distances(sides.behind)) /
         (sides.sum(sides.before) + sides.sum(sides.behind));
}

// The mean of h rises with λ, so the λ that has the wanted mean is found by halving.
void DiagonalModel::maximise(const Counts& counts, const Sizes& sizes) {
  if (counts.linked == 0) return;
  const double wanted = -static_cast<double>(counts.distance) / static_cast<double>(counts.linked);
  const auto mean_h = [&](double tension) {
    const DiagonalModel model(null_probability_, tension);
    double sum = 0, words = 0;
    for (const auto& [size, pairs] : sizes) {
      double of_pair = 0;
      for (std::size_t j = 1; j <= size.second; ++j) of_pair += model.expected_h(j, size.first, size.second);
      sum += static_cast<double>(pairs) * of_pair;
      words += static_cast<double>(pairs) * static_cast<double>(size.second);
    }
    return sum / words;
  };
  double low = kLoosest, high = kTensest;
  while (high - low > 0.01) {
    const double middle = (low + high) / 2;
    (mean_h(middle) < wanted ? low : high) = middle;
  }
  tension_ = (low + high) / 2;
}

}  // namespace heed
