#include <algorithm>

#include "heed/data/images/decoding.h"

namespace heed {
namespace {

// Numbers of a TIFF structure, which says itself in which order their bytes stand; 0 beyond its end.
struct TiffBytes {
  std::string_view bytes;
  bool little;

  std::size_t number(std::size_t at, std::size_t count) const {
    if (at > bytes.size() || bytes.size() - at < count) return 0;
    std::size_t value = 0;
    for (std::size_t i = 0; i < count; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes[at + (little ? count - 1 - i : i)]);
    return value;
  }
};

}  // namespace

int exif_orientation(std::string_view exif) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  constexpr std::size_t kTag = 0x0112, kShort = 3, kEntry = 12;
  if (exif.starts_with(kPrefix)) exif.remove_prefix(kPrefix.size());
  if (!exif.starts_with("II") && !exif.starts_with("MM")) return 1;
  const TiffBytes tiff{exif, exif.starts_with("II")};
  const std::size_t directory = tiff.number(4, 4), entries = tiff.number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    if (entry >= exif.size()) break;
    if (tiff.number(entry, 2) != kTag || tiff.number(entry + 2, 2) != kShort) continue;
    const std::size_t value = tiff.number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Tensor upright(const Tensor& pixels, int orientation) {
  if (orientation == 1) return pixels;
  const bool swapped = orientation >= 5;
  const bool rows_turned = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool columns_turned = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const Index height = pixels.size(0), width = pixels.size(1);
  Tensor result(swapped ? Shape{width, height, 3} : Shape{height, width, 3});
  Real* to = result.data();
  for (Index y = 0; y < result.size(0); ++y)
    for (Index x = 0; x < result.size(1); ++x, to += 3) {
      const Index row = swapped ? x : y, column = swapped ? y : x;
      const Index from_row = rows_turned ? height - 1 - row : row,
                  from_column = columns_turned ? width - 1 - column : column;
      std::copy_n(pixels.data() + (from_row * width + from_column) * 3, 3, to);
    }
  return result;
}

}  // namespace heed
