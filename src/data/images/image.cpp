#include "heed/data/images/image.h"

#include <algorithm>
#include <cmath>

#include "heed/base/base64.h"
#include "heed/base/error.h"
#include "heed/data/images/decoding.h"

namespace heed {

void check_image_size(const std::string& name, Index height, Index width) {
  require(height > 0 && width > 0, "{}: the picture has no pixels, it is {} × {}", name, width, height);
  require(width <= kMostPixels / height, "{}: the picture is too large: {} × {} pixels, of which {} are read at most",
          name, width, height, kMostPixels);
}

Tensor pixels_of(std::span<const std::uint8_t> bytes, Index height, Index width) {
  Tensor pixels(Shape{height, width, 3});
  const std::size_t count = static_cast<std::size_t>(height * width), channels = bytes.size() / count;
  Real* to = pixels.data();
  for (const std::uint8_t* from = bytes.data(); from != bytes.data() + count * channels; from += channels, to += 3) {
    const Real opaque = channels == 4 ? static_cast<Real>(from[3]) / 255 : 1;
    for (int c = 0; c < 3; ++c) to[c] = opaque * static_cast<Real>(from[c]) / 255 + (1 - opaque);
  }
  return pixels;
}

std::vector<std::uint8_t> bytes_of(const Tensor& pixels) {
  require(pixels.rank() == 3 && pixels.size(2) == 3, "[image] pixels are [height, width, 3], not {}", pixels.shape());
  check_image_size("[image]", pixels.size(0), pixels.size(1));
  const Tensor packed = pixels.contiguous();
  std::vector<std::uint8_t> bytes(packed.values().size());
  std::transform(packed.values().begin(), packed.values().end(), bytes.begin(), [](Real value) {
    return static_cast<std::uint8_t>(std::lround(std::clamp<Real>(value, 0, 1) * 255));
  });
  return bytes;
}

std::string preview_of(const Tensor& pixels, Index longest) {
  const Index height = pixels.size(0), width = pixels.size(1), side = std::max(height, width);
  if (side <= longest) return "data:image/jpeg;base64," + base64(jpeg_of(pixels));
  const auto shrunk = [&](Index length) { return std::max<Index>(1, (length * longest + side / 2) / side); };
  return "data:image/jpeg;base64," + base64(jpeg_of(resize(pixels, shrunk(height), shrunk(width))));
}

}  // namespace heed
