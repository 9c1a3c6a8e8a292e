#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "heed/tensor/shape.h"

namespace heed {

// The element types a safetensors file may have.
enum class Dtype { boolean, u8, i8, f8_e4m3, f8_e5m2, f8_e8m0, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64, c64 };
// As the file spells it: "BOOL", "F32".
std::string_view name_of(Dtype dtype);
std::size_t bytes_of(Dtype dtype);

using Metadata = std::map<std::string, std::string>;

// What stands before the data. Whoever holds one may use it without further checks: each entry's range lies in the
// data, has the size its type and shape need, and the ranges cover the data without gap or overlap.
struct SafetensorsHeader {
  static constexpr std::size_t kLengthBytes = 8;
  static constexpr std::size_t kLongest = 100'000'000;  // the reference implementation's bound
  static constexpr const char* kMetadata = "__metadata__";

  struct Entry {
    Dtype dtype;
    Shape shape;
    std::size_t begin, end;  // bytes, from the start of the data
  };
  std::map<std::string, Entry, std::less<>> entries;
  Metadata metadata;
  std::size_t data_begin = 0;  // from the start of the file
};

// Reads and checks the header of a whole file. Every fault is an Error that leads with `file` and quotes the numbers.
SafetensorsHeader read_safetensors_header(std::span<const std::byte> bytes, const std::string& file);

// Text out of a file, fit for a message: in quotes, short, and with nothing in it that a terminal would obey.
struct Quoted {
  std::string_view text;
  std::string shown() const;
};

}  // namespace heed

template <>
struct fmt::formatter<heed::Quoted> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const heed::Quoted& quoted, Context& context) const {
    return fmt::formatter<std::string>::format(quoted.shown(), context);
  }
};
