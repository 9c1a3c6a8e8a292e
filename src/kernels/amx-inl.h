#pragma once

// What the products of AMX's tiles share. AMX has eight tiles of 16 rows of 64 bytes.

#if defined(__x86_64__) && !defined(HEED_DOUBLE)
#include <immintrin.h>

#include <cstdint>

#include "heed/base/real.h"

namespace heed::kernels {

constexpr Index kAmxRows = 16, kAmxBytes = 64;

// All tiles are whole.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, first_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
  TileShapes() {
    for (int tile = 0; tile < 8; ++tile) bytes[tile] = kAmxBytes, rows[tile] = kAmxRows;
  }
};

// The compiler does not see what tiles read and write.
inline void memory_is_used() { __asm__ volatile("" ::: "memory"); }

}  // namespace heed::kernels
#endif
