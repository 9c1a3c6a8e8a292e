#include <png.h>

#include "heed/base/error.h"
#include "heed/data/images/decoding.h"
#include "heed/data/sample.h"

namespace heed {
namespace {

// libpng's own record of one picture, freed in any case.
struct PngImage {
  PngImage() { control.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&control); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  png_image control{};
};

// The data of the chunk that turns pictures. A chunk is its length (big-endian), its type, its data and a checksum.
std::string_view exif_of_png(std::string_view bytes) {
  constexpr std::size_t kSignature = 8, kHead = 8, kChecksum = 4;
  for (std::size_t at = kSignature; at + kHead <= bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
    if (length > bytes.size() - at - kHead) break;
    if (bytes.substr(at + 4, 4) == "eXIf") return bytes.substr(at + kHead, length);
    at += kHead + length + kChecksum;
  }
  return {};
}

Value decode_png(std::string_view bytes, const std::string& name) {
  PngImage image;
  require(png_image_begin_read_from_memory(&image.control, bytes.data(), bytes.size()) != 0,
          "{}: this PNG cannot be read: {}", name, image.control.message);
  const Index height = image.control.height, width = image.control.width;
  check_image_size(name, height, width);
  image.control.format = PNG_FORMAT_RGBA;
  image.control.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16 bits are not linear unless the file says so
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(height * width * 4));
  require(png_image_finish_read(&image.control, nullptr, pixels.data(), 0, nullptr) != 0,
          "{}: this PNG is damaged or cut short: {}", name, image.control.message);
  return {.numbers = upright(pixels_of(pixels, height, width), exif_orientation(exif_of_png(bytes)))};
}

const RegisterKindDecoder png{
    {.kind = Kind::image, .endings = {".png"}, .beginning = "\x89PNG\r\n\x1a\n", .decode = decode_png}};

}  // namespace

std::string png_of(const Tensor& pixels) {
  const std::vector<std::uint8_t> bytes = bytes_of(pixels);
  PngImage image;
  image.control.format = PNG_FORMAT_RGB;
  image.control.height = static_cast<png_uint_32>(pixels.size(0));
  image.control.width = static_cast<png_uint_32>(pixels.size(1));
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image.control);
  std::string file(size, '\0');
  require(png_image_write_to_memory(&image.control, file.data(), &size, 0, bytes.data(), 0, nullptr) != 0,
          "[image] no PNG can be written: {}", image.control.message);
  file.resize(size);
  return file;
}

}  // namespace heed
