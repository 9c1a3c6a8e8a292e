#pragma once

#include <string>
#include <string_view>

#include "heed/tensor/tensor.h"

// Pictures as numbers: [height, width, 3], red, green and blue, each in 0..1 (sRGB as it is stored).
//
// JPEG, PNG and WebP files become such numbers by way of data/sample.h (decode_value, read_value). Grey, palettes, 16
// bits and CMYK become red, green and blue; what is transparent lies on white; a picture that its EXIF data calls
// turned is turned upright. A file that is damaged or cut short, an animated WebP and a picture of more than
// kMostPixels is an Error that names it.

namespace heed {

constexpr Index kMostPixels = 50'000'000;  // 600 MB as numbers; checked before anything is decoded

// An Error if a picture has no pixels or too many. `name` leads it.
void check_image_size(const std::string& name, Index height, Index width);

// The same picture in another size. Each output is a mean of the inputs around its place, weighted by Keys' cubic
// (1981, a = -1/2), which is as wide as the picture is shrunk: nothing aliases. Values are kept in 0..1.
Tensor resize(const Tensor& pixels, Index height, Index width);

// The bytes of a file. Values are rounded to 8 bits; what lies outside 0..1 is brought to the nearer end.
std::string png_of(const Tensor& pixels);
std::string jpeg_of(const Tensor& pixels, int quality = 85);

// A small copy as a data: URL of a JPEG, for traces: its longer side has at most `longest` pixels.
std::string preview_of(const Tensor& pixels, Index longest = 320);

}  // namespace heed
