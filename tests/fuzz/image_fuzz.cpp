// Any bytes as a picture. An Error that names it is a good answer; anything else is a finding.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "heed/base/error.h"
#include "heed/data/images/image.h"
#include "heed/data/sample.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const heed::Tensor pixels = heed::decode_value(heed::Kind::image, bytes, "picture").numbers;
    if (pixels.rank() != 3 || pixels.size(2) != 3) std::abort();
    for (const heed::Real value : heed::resize(pixels, 5, 3).values())
      if (!(value >= 0 && value <= 1)) std::abort();
  } catch (const heed::Error& error) {
    if (!std::string_view(error.what()).starts_with("picture: ")) std::abort();
  }
  return 0;
}
