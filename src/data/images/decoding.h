#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/data/images/image.h"

// What the decoders of the single formats share.

namespace heed {

// Bytes [height, width, 3 or 4] as pixels; the fourth is how opaque they are, and they lie on white.
Tensor pixels_of(std::span<const std::uint8_t> bytes, Index height, Index width);
// Pixels [height, width, 3] as bytes.
std::vector<std::uint8_t> bytes_of(const Tensor& pixels);

// How a picture must be turned to stand upright, 1 to 8 as the EXIF standard numbers it (tag 0x0112 of the first
// directory), of EXIF data with or without its leading "Exif\0\0"; 1, as it is, where the data do not say.
int exif_orientation(std::string_view exif);
// The picture upright.
Tensor upright(const Tensor& pixels, int orientation);

}  // namespace heed
