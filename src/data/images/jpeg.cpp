#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include <jerror.h>

#include "heed/base/error.h"
#include "heed/data/images/decoding.h"
#include "heed/data/sample.h"

namespace heed {
namespace {

// libjpeg ends what it cannot do by a jump. No object with a destructor may live between the jump and where it lands,
// so each call of the library stands in a function of plain data that says whether it succeeded.
struct JpegErrors {
  jpeg_error_mgr manager;  // first: libjpeg knows the address of this alone
  std::jmp_buf landing;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void jump(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message.data());
  std::longjmp(errors->landing, 1);
}

// libjpeg only warns of data that are cut short or damaged and fills the rest of the picture with grey. What it need
// not warn of: markers that say something odd, and bytes beyond the data.
void judge_warning(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA: return;
    default: jump(info);
  }
}

jpeg_error_mgr* prepare(JpegErrors& errors) {
  jpeg_error_mgr* manager = jpeg_std_error(&errors.manager);
  manager->error_exit = jump;
  manager->emit_message = judge_warning;
  manager->output_message = [](j_common_ptr) {};
  return manager;
}

// A progressive picture comes in scans, usually ten. Thousands of empty ones would keep a processor busy for hours.
void count_scans(j_common_ptr info) {
  constexpr int kMostScans = 100;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  info->err->msg_code = JERR_BAD_PROGRESSION;
  jump(info);
}

class JpegReader {
 public:
  explicit JpegReader(std::string_view bytes) : bytes_(bytes) { info_.err = prepare(errors_); }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  const char* fault() const { return errors_.message.data(); }
  Index height() const { return static_cast<Index>(info_.image_height); }
  Index width() const { return static_cast<Index>(info_.image_width); }
  // Of ink: cyan, magenta, yellow and black.
  bool printed() const { return info_.num_components == 4; }
  // Adobe's programs store how much paper is seen instead of how much ink there is.
  bool inverted() const { return info_.saw_Adobe_marker; }

  bool read_header() {
    if (setjmp(errors_.landing)) return false;
    jpeg_create_decompress(&info_);
    info_.progress = &progress_;
    progress_.progress_monitor = count_scans;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  // Three bytes per pixel, or four of ink.
  bool read_pixels(std::uint8_t* to) {
    if (setjmp(errors_.landing)) return false;
    info_.out_color_space = printed() ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info_);
    const std::size_t row = std::size_t{info_.output_width} * (printed() ? 4 : 3);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW place = to + info_.output_scanline * row;
      jpeg_read_scanlines(&info_, &place, 1);
    }
    return true;
  }

  int orientation() const {
    for (jpeg_saved_marker_ptr marker = info_.marker_list; marker; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (data.starts_with("Exif")) return exif_orientation(data);
    }
    return 1;
  }

 private:
  std::string_view bytes_;
  JpegErrors errors_{};
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
};

// Light that ink and black leave of white: (1 - ink)(1 - black). In place, four bytes to three.
void print_to_light(std::vector<std::uint8_t>& bytes, bool inverted) {
  const auto left = [inverted](std::uint8_t ink) { return inverted ? ink : 255 - ink; };
  std::uint8_t* to = bytes.data();
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const int black = left(bytes[i + 3]);
    for (std::size_t c = 0; c < 3; ++c) *to++ = static_cast<std::uint8_t>((left(bytes[i + c]) * black + 127) / 255);
  }
  bytes.resize(bytes.size() / 4 * 3);
}

Value decode_jpeg(std::string_view bytes, const std::string& name) {
  JpegReader reader(bytes);
  require(reader.read_header(), "{}: this JPEG cannot be read: {}", name, reader.fault());
  check_image_size(name, reader.height(), reader.width());
  std::vector<std::uint8_t> pixels(
      static_cast<std::size_t>(reader.height() * reader.width() * (reader.printed() ? 4 : 3)));
  require(reader.read_pixels(pixels.data()), "{}: this JPEG is damaged or cut short: {}", name, reader.fault());
  if (reader.printed()) print_to_light(pixels, reader.inverted());
  return {.numbers = upright(pixels_of(pixels, reader.height(), reader.width()), reader.orientation())};
}

const RegisterKindDecoder jpeg{
    {.kind = Kind::image, .endings = {".jpg", ".jpeg"}, .beginning = "\xff\xd8\xff", .decode = decode_jpeg}};

class JpegWriter {
 public:
  JpegWriter() { info_.err = prepare(errors_); }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(file_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  const char* fault() const { return errors_.message.data(); }
  std::string_view file() const { return {reinterpret_cast<const char*>(file_), size_}; }

  bool write(const std::uint8_t* pixels, Index height, Index width, int quality) {
    if (setjmp(errors_.landing)) return false;
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &file_, &size_);
    info_.image_height = static_cast<JDIMENSION>(height);
    info_.image_width = static_cast<JDIMENSION>(width);
    info_.input_components = 3;
    info_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    for (Index y = 0; y < height; ++y) {
      JSAMPROW row = const_cast<JSAMPROW>(pixels + y * width * 3);  // it is only read
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

 private:
  JpegErrors errors_{};
  jpeg_compress_struct info_{};
  unsigned char* file_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

std::string jpeg_of(const Tensor& pixels, int quality) {
  const std::vector<std::uint8_t> bytes = bytes_of(pixels);
  JpegWriter writer;
  require(writer.write(bytes.data(), pixels.size(0), pixels.size(1), quality), "[image] no JPEG can be written: {}",
          writer.fault());
  return std::string(writer.file());
}

}  // namespace heed
