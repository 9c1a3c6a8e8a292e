#include "heed/base/random.h"

namespace heed {
namespace {

std::uint32_t high_half(std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32); }

// A finaliser that spreads every input bit over the word (Stafford's variant 13 of MurmurHash3's).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

RandomKey RandomKey::derive(std::uint64_t part) const {
  return {seed, mix(stream * 0x9e3779b97f4a7c15ULL + mix(part + 0x632be59bd9b4e019ULL))};
}

RandomKey RandomKey::derive(std::string_view name) const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return derive(hash);
}

RandomBlock random_block(RandomKey key, std::uint64_t counter) {
  std::uint32_t c0 = static_cast<std::uint32_t>(counter), c1 = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(key.stream), c3 = static_cast<std::uint32_t>(key.stream >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(key.seed), k1 = static_cast<std::uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ULL * c0, p1 = 0xCD9E8D57ULL * c2;
    c0 = high_half(p1) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = high_half(p0) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {c0, c1, c2, c3};
}

}  // namespace heed
