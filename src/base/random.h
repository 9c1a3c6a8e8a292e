#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace heed {

// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). A number is a pure function of (key, position), so the same seed gives the same run whatever
// the number of threads, and a dropout mask can be computed again instead of being stored.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;

  // An independent key for a part of the work, e.g. one per parameter name or per shard.
  RandomKey derive(std::uint64_t part) const;
  RandomKey derive(std::string_view name) const;
};

using RandomBlock = std::array<std::uint32_t, 4>;

// The four 32-bit words at block position `counter`.
RandomBlock random_block(RandomKey key, std::uint64_t counter);

// Hands out a new key at each call: one generator a model run, one key an op.
class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : key_{seed, 0} {}
  explicit Random(RandomKey key, std::uint64_t used = 0) : key_(key), used_(used) {}
  RandomKey next() { return key_.derive(++used_); }
  // What a checkpoint keeps to go on exactly where it was.
  RandomKey key() const { return key_; }
  std::uint64_t used() const { return used_; }

 private:
  RandomKey key_;
  std::uint64_t used_ = 0;
};

// A sequential reader of one key's numbers, for code that wants "the next one".
class RandomSequence {
 public:
  explicit RandomSequence(RandomKey key) : key_(key) {}
  std::uint32_t bits() {
    if (at_ == 4) {
      block_ = random_block(key_, counter_++);
      at_ = 0;
    }
    return block_[at_++];
  }
  // Uniform in [0, 1) with 53 bits.
  double uniform() {
    const std::uint64_t high = bits() >> 5, low = bits() >> 6;
    return static_cast<double>(high * 67108864 + low) / 9007199254740992.0;
  }
  // Standard normal by Box and Muller's transform.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
  // Uniform in [0, bound), bound > 0, without bias worth speaking of below 2^32.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(bound));
  }

 private:
  RandomKey key_;
  std::uint64_t counter_ = 0;
  RandomBlock block_{};
  int at_ = 4;
};

}  // namespace heed
