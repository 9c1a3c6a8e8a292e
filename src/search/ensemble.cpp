#include "heed/search/ensemble.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "heed/autograd/tensor_math.h"
#include "heed/base/error.h"

namespace heed {
namespace {

using kernels::Binary;
using kernels::Unary;

// Σ_k shares[k] x_k
Tensor weighted_sum(std::span<const Tensor> list, std::span<const double> shares) {
  Tensor sum;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Tensor part = scaled(list[k], static_cast<Real>(shares[k]));
    sum = sum ? combine(Binary::add, sum, part, "ensemble") : part;
  }
  return sum;
}

// log Σ_k shares[k] exp(x_k), with the largest taken out so that small probabilities do not vanish.
Tensor log_mean(std::span<const Tensor> list, std::span<const double> shares) {
  Tensor largest = list[0].copy();
  for (const Tensor& each : list.subspan(1)) {
    const Tensor other = each.contiguous();
    std::transform(largest.data(), largest.data() + largest.size(), other.data(), largest.data(),
                   [](Real a, Real b) { return a < b ? b : a; });
  }
  // What no model thinks possible must not become NaN.
  constexpr Real kLeast = -1e30F;
  for (Real& value : largest.values()) value = value < kLeast ? kLeast : value;
  std::vector<Tensor> parts;
  for (const Tensor& each : list)
    parts.push_back(apply(Unary::exp, combine(Binary::subtract, each, largest, "ensemble")));
  return combine(Binary::add, largest, apply(Unary::log, weighted_sum(parts, shares)), "ensemble");
}

std::vector<double> scaled_to_one(std::vector<double> shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace

EnsembleDecoding::EnsembleDecoding(std::vector<std::unique_ptr<Decoding>> members, EnsembleMean mean,
                                   std::vector<double> shares)
    : members_(std::move(members)), mean_(mean), shares_(std::move(shares)) {
  require(!members_.empty(), "[ensemble] there is no model in it");
  for (const auto& member : members_)
    require(member->rows() == rows(), "[ensemble] models decode {} and {} rows", rows(), member->rows());
  if (shares_.empty()) shares_.assign(members_.size(), 1);
  require(shares_.size() == members_.size(), "[ensemble] {} shares for {} models", shares_.size(), members_.size());
  for (const double share : shares_) require(share > 0, "[ensemble] a model's share must be above 0, not {}", share);
  shares_ = scaled_to_one(std::move(shares_));
}

Decoding::Step EnsembleDecoding::step(const Ids& previous) {
  if (members_.size() == 1) return members_.front()->step(previous);
  std::vector<Tensor> words, weights, generates;
  std::vector<double> lookers;  // shares of the models with attention
  for (std::size_t k = 0; k < members_.size(); ++k) {
    Step step = members_[k]->step(previous);
    require(words.empty() || step.words.shape() == words[0].shape(),
            "[ensemble] models do not fit together: log-probabilities {} and {}",
            words.empty() ? Shape{} : words[0].shape(), step.words.shape());
    words.push_back(step.log_probabilities());
    if (step.generates) generates.push_back(step.generates);
    if (!step.weights || (!weights.empty() && step.weights.shape() != weights[0].shape())) continue;
    weights.push_back(std::move(step.weights));
    lookers.push_back(shares_[k]);
  }
  return {mean_ == EnsembleMean::probabilities ? log_mean(words, shares_) : weighted_sum(words, shares_),
          weighted_sum(weights, scaled_to_one(lookers)), true,
          generates.size() == members_.size() ? weighted_sum(generates, shares_) : Tensor()};
}

void EnsembleDecoding::select(const Ids& rows) {
  for (const auto& member : members_) member->select(rows);
}

}  // namespace heed
