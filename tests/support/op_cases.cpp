#include "support/op_cases.h"

#include "heed/base/random.h"

namespace heed::test {
namespace {

std::vector<OpCase>& registry() {
  static std::vector<OpCase> cases;
  return cases;
}

template <class T>
TensorOf<T> from_nested(const nlohmann::json& nested) {
  std::vector<Index> sizes;
  for (const nlohmann::json* level = &nested; level->is_array(); level = &(*level)[0]) {
    sizes.push_back(static_cast<Index>(level->size()));
    if (level->empty()) break;
  }
  std::vector<T> flat;
  const std::function<void(const nlohmann::json&)> walk = [&](const nlohmann::json& value) {
    if (value.is_array()) {
      for (const nlohmann::json& each : value) walk(each);
    } else {
      flat.push_back(static_cast<T>(value.get<int>()));
    }
  };
  walk(nested);
  TensorOf<T> result{Shape(std::span<const Index>(sizes))};
  require(static_cast<Index>(flat.size()) == result.size(), "[test] ragged list");
  std::copy(flat.begin(), flat.end(), result.data());
  return result;
}

}  // namespace

const std::vector<OpCase>& op_cases() { return registry(); }

RegisterOps::RegisterOps(std::initializer_list<OpCase> cases) {
  registry().insert(registry().end(), cases.begin(), cases.end());
}

Ids ids_from(const nlohmann::json& nested) { return from_nested<std::int32_t>(nested); }
Mask mask_from(const nlohmann::json& nested) { return from_nested<bool>(nested); }

std::vector<Tensor> make_inputs(const OpExample& example, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  RandomSequence random(RandomKey{seed, 7});
  for (const Shape& shape : example.shapes) {
    Tensor& input = inputs.emplace_back(shape);
    for (Real& x : input.values())
      x = static_cast<Real>(example.low < example.high ? example.low + (example.high - example.low) * random.uniform()
                                                       : random.normal());
  }
  return inputs;
}

}  // namespace heed::test
