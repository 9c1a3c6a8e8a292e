#include "heed/align/jump_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed {
namespace {

constexpr float kLeastShare = 1e-7F;  // what is smaller beside its neighbours changes nothing that is seen

// y += a x, four at a time, which compilers turn into one vector.
inline void add_scaled(std::size_t size, float a, const float* __restrict x, float* __restrict y) {
  std::size_t k = 0;
  for (; k + 4 <= size; k += 4)
    for (std::size_t lane = k; lane < k + 4; ++lane) y[lane] += a * x[lane];
  for (; k < size; ++k) y[k] += a * x[k];
}

}  // namespace

JumpModel::Sums::Sums(std::size_t longest_given, std::size_t longest_written)
    : forward((longest_written + 1) * (longest_given + 1)),
      word(longest_written * (longest_given + 1)),
      reach(longest_given + 1),
      backward(longest_given + 1),
      product(longest_given + 1),
      summed(longest_given + 1),
      scale(longest_written),
      jumps(2 * longest_given + 1) {}

JumpModel::JumpModel(double null_probability, std::size_t longest)
    : null_probability_(null_probability), origin_(static_cast<std::ptrdiff_t>(longest) + 1) {
  std::array<double, kClasses> shares;
  for (std::size_t k = 0; k < kClasses; ++k)
    shares[k] = std::exp2(-std::abs(static_cast<double>(k) - static_cast<double>(class_of(1))));
  set_weights(shares);
}

std::size_t JumpModel::class_of(std::ptrdiff_t jump) {
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(jump, -kFarthest - 1, kFarthest + 1) + kFarthest + 1);
}

void JumpModel::set_weights(const std::array<double, kClasses>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const double far = static_cast<double>(std::max<std::ptrdiff_t>(origin_ - kFarthest, 1));  // lengths of a far jump
  weights_.resize(static_cast<std::size_t>(2 * origin_ + 1));
  mirrored_.resize(weights_.size());
  sums_.resize(weights_.size() + 1);
  for (std::ptrdiff_t jump = -origin_; jump <= origin_; ++jump) {
    const double share = shares[class_of(jump)] / sum / (std::abs(jump) > kFarthest ? far : 1);
    const auto at = static_cast<std::size_t>(jump + origin_);
    weights_[at] = mirrored_[static_cast<std::size_t>(origin_ - jump)] = static_cast<float>(share);
    sums_[at + 1] = sums_[at] + share;
  }
}

void JumpModel::posteriors(std::size_t given, std::size_t written, std::span<float> matrix, Sums& sums,
                           Counts& counts) const {
  const std::size_t places = given + 1;
  const auto empty_share = static_cast<float>(null_probability_);
  const float* const jump_from_here = weights_.data() + origin_;  // s(d) at d
  const float* const jump_to_here = mirrored_.data() + origin_;   // s(-d) at d
  const double* const sums_below = sums_.data() + origin_;        // Σ s(d') over d' < d at d
  float* const reach = sums.reach.data();
  for (std::size_t q = 0; q < places; ++q) {
    const auto from = -static_cast<std::ptrdiff_t>(q);
    const double reached = sums_below[from + static_cast<std::ptrdiff_t>(given) + 1] - sums_below[from + 1];
    reach[q] = static_cast<float>((1 - null_probability_) / reached);
  }

  std::fill_n(sums.forward.data(), places, 0.0F);
  sums.forward[0] = 1;
  for (std::size_t j = 0; j < written; ++j) {
    const float* const emitted = matrix.data() + j * places;
    const float* const before = sums.forward.data() + j * places;
    float* const after = sums.forward.data() + (j + 1) * places;
    float* const word = sums.word.data() + j * places;
    std::fill_n(word, places, 0.0F);
    for (std::size_t q = 0; q < places; ++q)
      if (before[q] >= kLeastShare)
        add_scaled(given, before[q] * reach[q], jump_from_here + 1 - static_cast<std::ptrdiff_t>(q), word + 1);
    const float stays = empty_share * emitted[0];
    float sum = 0;
    for (std::size_t q = 0; q < places; ++q) {
      word[q] *= emitted[q];
      sum += after[q] = word[q] + stays * before[q];
    }
    const float scale = sums.scale[j] = 1 / sum;
    for (std::size_t q = 0; q < places; ++q) {
      word[q] *= scale;
      after[q] *= scale;
    }
  }

  float* const backward = sums.backward.data();
  float* const product = sums.product.data();
  float* const summed = sums.summed.data();
  float* const jumps = sums.jumps.data() + given;  // at d
  std::fill_n(backward, places, 1.0F);
  std::fill_n(sums.jumps.data(), 2 * given + 1, 0.0F);
  for (std::size_t j = written; j-- > 0;) {
    float* const row = matrix.data() + j * places;
    const float* const before = sums.forward.data() + j * places;
    const float* const word = sums.word.data() + j * places;
    const float stays = empty_share * row[0] * sums.scale[j];
    float largest = 0, stayed = before[0] * backward[0];
    for (std::size_t i = 1; i < places; ++i) {
      largest = std::max(largest, product[i] = row[i] * sums.scale[j] * backward[i]);
      stayed += before[i] * backward[i];
      row[i] = word[i] * backward[i];
    }
    row[0] = stays * stayed;
    for (std::size_t q = 0; q < places; ++q)
      if (before[q] >= kLeastShare)
        add_scaled(given, before[q] * reach[q], product + 1, jumps + 1 - static_cast<std::ptrdiff_t>(q));
    std::fill_n(summed, places, 0.0F);
    for (std::size_t i = 1; i < places; ++i)
      if (product[i] >= kLeastShare * largest)
        add_scaled(places, product[i], jump_to_here - static_cast<std::ptrdiff_t>(i), summed);
    for (std::size_t q = 0; q < places; ++q) backward[q] = reach[q] * summed[q] + stays * backward[q];
  }
  for (std::ptrdiff_t jump = -static_cast<std::ptrdiff_t>(given); jump <= static_cast<std::ptrdiff_t>(given); ++jump)
    counts.jumps[class_of(jump)] += to_expected(jumps[jump] * jump_from_here[jump]);
}

void JumpModel::maximise(const Counts& counts) {
  constexpr double kSeenAnyway = 0.5;  // of every class, so that no jump is impossible
  std::array<double, kClasses> shares;
  for (std::size_t k = 0; k < kClasses; ++k) shares[k] = from_expected(counts.jumps[k]) + kSeenAnyway;
  set_weights(shares);
}

}  // namespace heed
