#include "heed/store/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kDtypes{
    DtypeRow{Dtype::boolean, "BOOL", 1},    DtypeRow{Dtype::u8, "U8", 1},
    DtypeRow{Dtype::i8, "I8", 1},           DtypeRow{Dtype::f8_e4m3, "F8_E4M3", 1},
    DtypeRow{Dtype::f8_e5m2, "F8_E5M2", 1}, DtypeRow{Dtype::f8_e8m0, "F8_E8M0", 1},
    DtypeRow{Dtype::u16, "U16", 2},         DtypeRow{Dtype::i16, "I16", 2},
    DtypeRow{Dtype::f16, "F16", 2},         DtypeRow{Dtype::bf16, "BF16", 2},
    DtypeRow{Dtype::u32, "U32", 4},         DtypeRow{Dtype::i32, "I32", 4},
    DtypeRow{Dtype::f32, "F32", 4},         DtypeRow{Dtype::u64, "U64", 8},
    DtypeRow{Dtype::i64, "I64", 8},         DtypeRow{Dtype::f64, "F64", 8},
    DtypeRow{Dtype::c64, "C64", 8},
};
const DtypeRow& row_of(Dtype dtype) {
  return *std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeRow& row) { return row.dtype == dtype; });
}

// What a file that is not safetensors seems to be, as the end of a sentence; empty if unknown.
std::string foreign_kind(std::span<const std::byte> bytes) {
  using namespace std::string_view_literals;
  struct Kind {
    std::string_view start;
    const char* name;
  };
  static constexpr std::array kKinds{
      Kind{"PK\x03\x04"sv, "a zip archive, such as a PyTorch checkpoint or a NumPy .npz"},
      Kind{"\x80\x02"sv, "a Python pickle, such as an old PyTorch checkpoint"},
      Kind{"\x80\x03"sv, "a Python pickle"},
      Kind{"\x80\x04"sv, "a Python pickle"},
      Kind{"\x80\x05"sv, "a Python pickle"},
      Kind{"\x1f\x8b"sv, "compressed with gzip"},
      Kind{"\x28\xb5\x2f\xfd"sv, "compressed with zstd"},
      Kind{"\xfd\x37zXZ"sv, "compressed with xz"},
      Kind{"BZh"sv, "compressed with bzip2"},
      Kind{"\x93NUMPY"sv, "a NumPy .npy array"},
      Kind{"\x89HDF"sv, "an HDF5 file, such as a Keras model"},
      Kind{"GGUF"sv, "a GGUF model"},
      Kind{"version https://git-lfs"sv, "a Git LFS pointer, which stands for a file that was not fetched"},
      Kind{"<!DOCTYPE"sv, "a web page"},
      Kind{"<html"sv, "a web page"},
      Kind{"{"sv, "JSON text"},
  };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 32));
  for (const Kind& kind : kKinds)
    if (text.starts_with(kind.start)) return fmt::format("; it seems to be {}", kind.name);
  return "";
}

// Follows the header's JSON event by event and allows only what the format has: objects are at most two deep, and a
// name that stands twice, which a parser into a map would hide, is seen. Nothing recurses.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const std::string& file, std::size_t data_bytes) : file_(file), data_bytes_(data_bytes) {}
  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::start: place_ = Place::top; break;
      case Place::tensor_value: place_ = Place::tensor; break;
      case Place::metadata_value: place_ = Place::metadata; break;
      default: unexpected("an object");
    }
    return true;
  }
  bool end_object() override {
    if (place_ == Place::tensor) finish_tensor();
    place_ = place_ == Place::top ? Place::end : Place::top;
    return true;
  }
  bool key(string_t& text) override {
    switch (place_) {
      case Place::top: return begin_value(text);
      case Place::tensor: return begin_field(text);
      case Place::metadata:
        require(!header_.metadata.contains(text), "{}: the metadata has {} twice", file_, Quoted{text});
        name_ = text;
        place_ = Place::metadata_text;
        return true;
      default: return false;  // the parser gives keys inside objects only
    }
  }
  bool string(string_t& text) override {
    if (place_ == Place::metadata_text) {
      header_.metadata.emplace(name_, text);
      place_ = Place::metadata;
    } else if (place_ == Place::dtype) {
      const auto row =
          std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeRow& each) { return each.name == text; });
      require(row != kDtypes.end(), "{}: tensor {} has the unknown dtype {}", file_, Quoted{name_}, Quoted{text});
      dtype_ = row->dtype;
      place_ = Place::tensor;
    } else {
      unexpected(Quoted{text}.shown());
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ == Place::shape) {
      shape_.emplace();
      place_ = Place::shape_numbers;
    } else if (place_ == Place::offsets) {
      offsets_.emplace();
      place_ = Place::offset_numbers;
    } else {
      unexpected("an array");
    }
    return true;
  }
  bool end_array() override {
    require(place_ != Place::offset_numbers || offsets_->size() == 2, "{}: tensor {} has {} data_offsets instead of 2",
            file_, Quoted{name_}, offsets_->size());
    place_ = Place::tensor;
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (place_ == Place::shape_numbers) {
      require(number <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max()),
              "{}: tensor {} has the impossible size {}", file_, Quoted{name_}, number);
      require(shape_->size() < Shape::kMaxRank, "{}: tensor {} has more than {} axes", file_, Quoted{name_},
              int{Shape::kMaxRank});
      shape_->push_back(static_cast<Index>(number));
    } else if (place_ == Place::offset_numbers) {
      require(offsets_->size() < 2, "{}: tensor {} has more than 2 data_offsets", file_, Quoted{name_});
      offsets_->push_back(number);
    } else {
      unexpected(fmt::to_string(number));
    }
    return true;
  }
  bool number_integer(number_integer_t number) override { return unexpected(fmt::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override { return unexpected(Quoted{text}.shown()); }
  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    std::string_view reason = error.what();
    // The parser's own numbering and its line and column, which a header does not have, stand before this.
    for (const std::string_view prefix : {"] ", "syntax error "})
      if (const std::size_t at = reason.find(prefix); at != std::string_view::npos)
        reason.remove_prefix(at + prefix.size());
    fail("{}: its header is not JSON, seen at its byte {}: {}", file_, position, Quoted{reason});
  }

 private:
  // Where in the header the next event stands.
  enum class Place {
    start,
    top,
    tensor_value,
    tensor,
    dtype,
    shape,
    shape_numbers,
    offsets,
    offset_numbers,
    metadata_value,
    metadata,
    metadata_text,
    end
  };

  bool begin_value(const std::string& name) {
    if (name == SafetensorsHeader::kMetadata) {
      require(!std::exchange(metadata_seen_, true), "{}: its header has {} twice", file_, SafetensorsHeader::kMetadata);
      place_ = Place::metadata_value;
      return true;
    }
    require(!header_.entries.contains(name), "{}: its header has tensor {} twice", file_, Quoted{name});
    name_ = name;
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
    place_ = Place::tensor_value;
    return true;
  }
  bool begin_field(const std::string& field) {
    bool seen = false;
    if (field == "dtype") {
      seen = dtype_.has_value();
      place_ = Place::dtype;
    } else if (field == "shape") {
      seen = shape_.has_value();
      place_ = Place::shape;
    } else if (field == "data_offsets") {
      seen = offsets_.has_value();
      place_ = Place::offsets;
    } else {
      fail("{}: tensor {} has the unknown field {}", file_, Quoted{name_}, Quoted{field});
    }
    require(!seen, "{}: tensor {} has {} twice", file_, Quoted{name_}, field);
    return true;
  }
  void finish_tensor() {
    const char* missing = !dtype_ ? "dtype" : !shape_ ? "shape" : !offsets_ ? "data_offsets" : nullptr;
    require(!missing, "{}: tensor {} has no {}", file_, Quoted{name_}, missing ? missing : "");
    Shape shape;
    try {
      shape = Shape(*shape_);
    } catch (const Error& error) {
      fail("{}: tensor {}: {}", file_, Quoted{name_}, error.what());
    }
    const std::uint64_t begin = (*offsets_)[0], end = (*offsets_)[1], data = data_bytes_;
    require(begin <= end && end <= data, "{}: tensor {} has data_offsets {}..{} outside the {} bytes of data", file_,
            Quoted{name_}, begin, end, data);
    // Shape keeps the product far enough from the end of the range.
    const std::size_t needed = static_cast<std::size_t>(shape.size()) * bytes_of(*dtype_);
    require(end - begin == needed, "{}: tensor {} of {} {} needs {} bytes, but its data_offsets {}..{} hold {}", file_,
            Quoted{name_}, name_of(*dtype_), shape, needed, begin, end, end - begin);
    header_.entries.emplace(name_, SafetensorsHeader::Entry{*dtype_, shape, begin, end});
  }
  // Always throws; true only so that it can stand in a return.
  bool unexpected(std::string_view what) const {
    const std::string tensor = "tensor " + Quoted{name_}.shown();
    const char* wanted = "";
    std::string where;
    switch (place_) {
      case Place::start: where = "its header", wanted = "an object"; break;
      case Place::tensor_value: where = tensor, wanted = "an object"; break;
      case Place::dtype: where = "the dtype of " + tensor, wanted = "text"; break;
      case Place::shape: where = "the shape of " + tensor, wanted = "an array"; break;
      case Place::shape_numbers: where = "the shape of " + tensor, wanted = "whole numbers from 0"; break;
      case Place::offsets: where = "the data_offsets of " + tensor, wanted = "an array"; break;
      case Place::offset_numbers: where = "the data_offsets of " + tensor, wanted = "whole numbers from 0"; break;
      case Place::metadata_value: where = "the metadata", wanted = "an object"; break;
      case Place::metadata_text: where = "the metadata " + Quoted{name_}.shown(), wanted = "text"; break;
      default: where = "its header", wanted = "a name"; break;
    }
    fail("{}: {} must be {}, not {}", file_, where, wanted, what);
  }

  const std::string& file_;
  std::size_t data_bytes_;
  SafetensorsHeader header_;
  Place place_ = Place::start;
  bool metadata_seen_ = false;
  std::string name_;
  std::optional<Dtype> dtype_;
  std::optional<std::vector<Index>> shape_;
  std::optional<std::vector<std::uint64_t>> offsets_;
};

// The tensors' ranges, put in order, must follow each other from the first byte to the last.
void check_ranges(const SafetensorsHeader& header, std::size_t data_bytes, const std::string& file) {
  using Item = std::pair<const std::string, SafetensorsHeader::Entry>;
  std::vector<const Item*> ordered;
  for (const Item& item : header.entries) ordered.push_back(&item);
  std::sort(ordered.begin(), ordered.end(), [](const Item* a, const Item* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::size_t end = 0;
  for (const Item* item : ordered) {
    require(item->second.begin == end, "{}: tensor {} begins at byte {} of the data, {} the end of the one before, {}",
            file, Quoted{item->first}, item->second.begin,
            item->second.begin < end ? "overlapping it: before" : "leaving a hole: after", end);
    end = item->second.end;
  }
  require(end == data_bytes, "{}: its tensors end at byte {} of the data, but {} bytes follow the header", file, end,
          data_bytes);
}

}  // namespace

std::string_view name_of(Dtype dtype) { return row_of(dtype).name; }
std::size_t bytes_of(Dtype dtype) { return row_of(dtype).bytes; }

std::string Quoted::shown() const {
  constexpr std::size_t kShown = 100;
  return text.size() <= kShown ? fmt::format("{:?}", text) : fmt::format("{:?}…", text.substr(0, kShown));
}

SafetensorsHeader read_safetensors_header(std::span<const std::byte> bytes, const std::string& file) {
  constexpr std::size_t kLengthBytes = SafetensorsHeader::kLengthBytes;
  const auto require_plausible = [&](bool ok, const std::string& fault) {
    if (!ok) fail("{}: not a safetensors file: {}{}", file, fault, foreign_kind(bytes));
  };
  require_plausible(bytes.size() >= kLengthBytes, fmt::format("{} bytes are too few", bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::size_t rest = bytes.size() - kLengthBytes;
  require_plausible(length <= rest,
                    fmt::format("its header of {} bytes is longer than the {} bytes left", length, rest));
  require_plausible(length <= SafetensorsHeader::kLongest,
                    fmt::format("its header of {} bytes is longer than {}", length, SafetensorsHeader::kLongest));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  require_plausible(text.starts_with('{'), fmt::format("its header of {} bytes does not begin with {{", length));

  // The parser takes a zero byte for the end of its input and would leave unread what follows.
  require(text.find('\0') == std::string_view::npos, "{}: its header is not JSON: a zero byte stands at its byte {}",
          file, text.find('\0') + 1);

  const std::size_t data_bytes = rest - length;
  try {
    HeaderReader reader(file, data_bytes);
    nlohmann::json::sax_parse(text, &reader);
    SafetensorsHeader header = reader.take();
    header.data_begin = kLengthBytes + length;
    check_ranges(header, data_bytes, file);
    return header;
  } catch (const std::bad_alloc&) {
    fail("{}: too little memory for its header of {} bytes", file, length);
  }
}

}  // namespace heed
