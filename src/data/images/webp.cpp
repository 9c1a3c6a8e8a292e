#include <webp/decode.h>

#include "heed/base/error.h"
#include "heed/data/images/decoding.h"
#include "heed/data/sample.h"

namespace heed {
namespace {

const char* fault_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA: return "it is cut short";
    case VP8_STATUS_OUT_OF_MEMORY: return "there is not enough memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "it has something that libwebp does not know";
    default: return "its data are damaged";
  }
}

// The data of the chunk that turns pictures. A chunk is its type, its length (little-endian) and its data, filled up to
// an even length; "RIFF", a length and "WEBP" stand in front of the first.
std::string_view exif_of_webp(std::string_view bytes) {
  constexpr std::size_t kFront = 12, kHead = 8;
  for (std::size_t at = kFront; at + kHead <= bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = 4; i > 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[at + 3 + i]);
    if (length > bytes.size() - at - kHead) break;
    if (bytes.substr(at, 4) == "EXIF") return bytes.substr(at + kHead, length);
    at += kHead + length + length % 2;
  }
  return {};
}

Value decode_webp(std::string_view bytes, const std::string& name) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPDecoderConfig config;
  require(WebPInitDecoderConfig(&config) != 0, "{}: this libwebp is of another version than its headers", name);
  const VP8StatusCode known = WebPGetFeatures(data, bytes.size(), &config.input);
  require(known == VP8_STATUS_OK, "{}: this WebP cannot be read: {}", name, fault_of(known));
  const Index height = config.input.height, width = config.input.width;
  check_image_size(name, height, width);
  require(!config.input.has_animation, "{}: this WebP is animated; give one of its pictures", name);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(height * width * 4));
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = pixels.data(), .stride = static_cast<int>(width * 4), .size = pixels.size()};
  const VP8StatusCode decoded = WebPDecode(data, bytes.size(), &config);
  require(decoded == VP8_STATUS_OK, "{}: this WebP cannot be decoded: {}", name, fault_of(decoded));
  return {.numbers = upright(pixels_of(pixels, height, width), exif_orientation(exif_of_webp(bytes)))};
}

const RegisterKindDecoder webp{{.kind = Kind::image, .endings = {".webp"}, .beginning = "RIFF", .decode = decode_webp}};

}  // namespace
}  // namespace heed
