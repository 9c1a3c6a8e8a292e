#include "heed/train/constraints.h"

#include <algorithm>
#include <cmath>

#include "heed/base/threads.h"

namespace heed {

void limit_column_norms(Parameters& parameters, double most) {
  require(most > 0 && std::isfinite(most), "[max-norm] the largest norm must be above 0 and finite, not {}", most);
  for (Parameters::Entry& entry : parameters.entries()) {
    if (entry.var.rank() != 2) continue;
    const Index rows = entry.var.size(0), columns = entry.var.size(1);
    Real* const weights = entry.var.value().data();
    std::vector<double> squares(static_cast<std::size_t>(columns), 0.0);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) {
        const double weight = static_cast<double>(weights[i * columns + j]);
        squares[static_cast<std::size_t>(j)] += weight * weight;
      }
    std::vector<Real> factors;
    factors.reserve(squares.size());
    for (const double square : squares)
      factors.push_back(square > most * most ? static_cast<Real>(most / std::sqrt(square)) : Real{1});
    if (std::all_of(factors.begin(), factors.end(), [](Real factor) { return factor == 1; })) continue;
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) weights[i * columns + j] *= factors[static_cast<std::size_t>(j)];
  }
}

WeightNoise::WeightNoise(Parameters& parameters, double deviation, RandomKey key) : parameters_(parameters) {
  if (deviation == 0) return;
  for (const Parameters::Entry& entry : parameters.entries()) before_.push_back(entry.var.value().copy());
  parallel_for(static_cast<Index>(before_.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Parameters::Entry& entry = parameters.entries()[static_cast<std::size_t>(i)];
      RandomSequence random(key.derive(entry.name));
      for (Real& weight : entry.var.value().values()) weight += static_cast<Real>(deviation * random.normal());
    }
  });
}

WeightNoise::~WeightNoise() {
  for (std::size_t i = 0; i < before_.size(); ++i)
    std::copy_n(before_[i].data(), before_[i].size(), parameters_.entries()[i].var.value().data());
}

}  // namespace heed
