#include "engine/case.h"

namespace heed::bench {

namespace {

// The finaliser of MurmurHash3 (Appleby, public domain) over position and seed: 32 well-mixed bits.
std::uint32_t mixed(std::uint32_t position, std::uint32_t seed) {
  std::uint32_t h = position + seed * 0x9e3779b9u;
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

}  // namespace

std::map<std::string, Prepare>& cases() {
  static std::map<std::string, Prepare> all;
  return all;
}

Tensor filled(const Shape& shape, std::uint32_t seed, Real scale) {
  Tensor result(shape);
  filling(seed, scale)(result, {});
  return result;
}

Ids filled_ids(const Shape& shape, std::uint32_t seed, std::int32_t bound) {
  Ids result(shape);
  for (Index i = 0; i < result.size(); ++i) {
    const std::uint32_t bits = mixed(static_cast<std::uint32_t>(i), seed) >> 8;
    result.data()[i] = static_cast<std::int32_t>(bits % static_cast<std::uint32_t>(bound));
  }
  return result;
}

Initialiser filling(std::uint32_t seed, Real scale) {
  return [=](Tensor& numbers, RandomKey) {
    for (Index i = 0; i < numbers.size(); ++i) {
      // 24 bits, so that every step but the last product is exact in float.
      const std::uint32_t bits = mixed(static_cast<std::uint32_t>(i), seed) >> 8;
      numbers.data()[i] = (static_cast<Real>(bits) / 8388608 - 1) * scale;
    }
  };
}

}  // namespace heed::bench
