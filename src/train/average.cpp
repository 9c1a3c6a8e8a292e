#include "heed/train/average.h"

#include <algorithm>

#include "heed/base/threads.h"
#include "heed/kernels/optimise.h"

namespace heed {

WeightAverage::WeightAverage(const Parameters& parameters, double decay) : decay_(decay) {
  require(decay >= 0 && decay < 1, "[average] decay must be in [0, 1), not {}", decay);
  for (const Parameters::Entry& entry : parameters.entries())
    averages_.push_back({entry.name, entry.var.value().copy()});
}

void WeightAverage::update(const Parameters& parameters) {
  require(!applied_, "[average] update was called before restore");
  check_fit(parameters);
  ++updates_;
  const double weight = std::max(1 - decay_, 10 / (static_cast<double>(updates_) + 9));
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    Tensor& average = averages_[i].tensor;
    kernels::average(average.size(), weight, parameters.entries()[i].var.value().data(), average.data());
  }
}

void WeightAverage::apply(Parameters& parameters) {
  require(!applied_, "[average] apply was called twice without restore");
  exchange(parameters);
  applied_ = true;
}

void WeightAverage::restore(Parameters& parameters) {
  require(applied_, "[average] restore was called without apply");
  exchange(parameters);
  applied_ = false;
}

// The numbers change places, not the tensors: layers hold handles of the same memory.
void WeightAverage::exchange(Parameters& parameters) {
  check_fit(parameters);
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    Real *value = parameters.entries()[i].var.value().data(), *average = averages_[i].tensor.data();
    parallel_for(averages_[i].tensor.size(), 32 * 1024,
                 [&](Index begin, Index end) { std::swap_ranges(value + begin, value + end, average + begin); });
  }
}

void WeightAverage::check_fit(const Parameters& parameters) const {
  const auto& entries = parameters.entries();
  require(entries.size() == averages_.size(), "[average] there are {} parameters, the average was made for {}",
          entries.size(), averages_.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    require(entries[i].name == averages_[i].name && entries[i].var.shape() == averages_[i].tensor.shape(),
            "[average] parameter {} {} does not fit the average of {} {}", entries[i].name, entries[i].var.shape(),
            averages_[i].name, averages_[i].tensor.shape());
}

TrainingState WeightAverage::state() const {
  require(!applied_, "[average] state was called before restore");
  return {averages_, {{"updates", static_cast<double>(updates_)}}};
}

void WeightAverage::load_state(const TrainingState& state) {
  require(!applied_, "[average] load_state was called before restore");
  const double updates = state.number("updates", "average");
  require(updates >= 0 && updates == std::floor(updates) && updates < 1e15,
          "[average] the saved number of updates is {}", updates);
  std::vector<NamedTensor> loaded;
  for (const NamedTensor& average : averages_) {
    const Tensor& tensor = state.tensor(average.name, "average");
    require(tensor.shape() == average.tensor.shape(), "[average] the saved average of {} has shape {}, not {}",
            average.name, tensor.shape(), average.tensor.shape());
    loaded.push_back({average.name, tensor.copy()});
  }
  averages_ = std::move(loaded);
  updates_ = static_cast<Index>(updates);
}

}  // namespace heed
