#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/file.h"
#include "heed/store/safetensors_header.h"
#include "heed/tensor/named_tensor.h"

// The safetensors format (huggingface.co/docs/safetensors):
//   8 bytes   n, the length of the header, little-endian
//   n bytes   JSON: {name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …,
//                    "__metadata__": {text: text, …}}
//   the rest  the tensors' bytes, row-major, little-endian, without gaps; offsets count from here
// Nothing in such a file is executed, and every number in its header is checked before it is used.

namespace heed {

// Writes the tensors, sorted by name, as F32 (F64 in the double build) or I8, byte for byte what the reference
// implementation writes. The file appears whole or not at all, by way of AtomicFile.
void save_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                      const Metadata& metadata = {}, const AtomicFile::BeforeRename& before = {});
// The same in memory; `name` stands for the file in errors.
std::string safetensors_bytes(const std::string& name, std::span<const NamedTensor> tensors);

// An open safetensors file, mapped into memory: opening reads the header only, a tensor's bytes are read when they are
// touched. A damaged, hostile or foreign file is an Error that names the file and quotes the offending numbers.
class SafetensorsFile {
 public:
  struct Info {
    Dtype dtype;
    Shape shape;
    std::size_t bytes;
  };

  explicit SafetensorsFile(const std::filesystem::path& path);
  // The same from memory; `name` stands for the file in errors.
  SafetensorsFile(std::vector<std::byte> bytes, std::string name);

  // All tensors, sorted.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return header_.entries.find(name) != header_.entries.end(); }
  Info info(std::string_view name) const;
  const Metadata& metadata() const { return header_.metadata; }

  // The numbers of an F16, BF16, F32 or F64 tensor. Where the type is Real and the bytes are aligned, a view of the
  // mapping, which lives as long as the tensor does: nothing is copied, and writing to it never reaches the file but
  // is seen by other views of the same SafetensorsFile. Otherwise a converted copy, rounded to nearest.
  Tensor tensor(std::string_view name) const;
  // The numbers of an I8 tensor, a view of the mapping.
  TensorOf<std::int8_t> bytes(std::string_view name) const;
  // The numbers of an I32 or I64 tensor; one that does not fit 32 bits is an Error.
  Ids ids(std::string_view name) const;

 private:
  void open(std::span<std::byte> bytes, std::shared_ptr<void> owner);
  const SafetensorsHeader::Entry& entry(std::string_view name) const;
  // The numbers as they lie, copied only if they are not aligned.
  template <class T>
  TensorOf<T> native(const SafetensorsHeader::Entry& entry) const;

  std::string file_;  // the name in errors
  SafetensorsHeader header_;
  std::byte* data_ = nullptr;    // what follows the header
  std::shared_ptr<void> owner_;  // keeps data_ alive
};

}  // namespace heed
