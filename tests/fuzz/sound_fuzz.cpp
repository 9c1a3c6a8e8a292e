// Any bytes as a sound, or as features of one. An Error is a good answer; anything else is a finding.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/error.h"
#include "heed/data/sound_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const heed::Value value = heed::decode_sound({reinterpret_cast<const char*>(data), size}, "fuzzed");
    if (value.numbers.rank() != 2 || value.numbers.size() == 0) std::abort();
    if ((value.rate > 0) == (value.frame_seconds > 0)) std::abort();
    for (const heed::Real number : value.numbers.values())
      if (!std::isfinite(number)) std::abort();
  } catch (const heed::Error& error) {
    if (!std::string_view(error.what()).starts_with("fuzzed: ")) std::abort();  // an error that does not name the file
  }
  return 0;
}
