#include "heed/store/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read and written as they lie in memory");

constexpr std::size_t kHeaderAlignment = 8;
constexpr Dtype kRealDtype = sizeof(Real) == 4 ? Dtype::f32 : Dtype::f64;

// IEEE 754 binary16.
float from_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = (bits >> 10) & 31U, fraction = bits & 1023U;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return sign ? -magnitude : magnitude;
}
// The upper half of a binary32.
float from_brain(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// `count` numbers of type Stored, at any alignment, each through `convert`.
template <class Stored, class Target, class Convert>
void convert_each(const std::byte* from, Index count, Target* to, const Convert& convert) {
  for (Index i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, from + static_cast<std::size_t>(i) * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<Target>(convert(stored));
  }
}

// Gives the file to `write`, piece by piece; `name` leads messages.
void write_tensors(const std::string& name, std::span<const NamedTensor> tensors, const Metadata& metadata,
                   const std::function<void(std::span<const std::byte>)>& write) {
  std::vector<const NamedTensor*> sorted;
  for (const NamedTensor& each : tensors) {
    require(each.tensor || each.bytes, "{}: tensor {} has no memory", name, Quoted{each.name});
    require(each.name != SafetensorsHeader::kMetadata, "{}: a tensor may not be called {}", name,
            SafetensorsHeader::kMetadata);
    sorted.push_back(&each);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    require(sorted[i - 1]->name != sorted[i]->name, "{}: two tensors are called {}", name, Quoted{sorted[i]->name});

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[SafetensorsHeader::kMetadata] = metadata;
  std::size_t end = 0;
  for (const NamedTensor* each : sorted) {
    const std::size_t begin = end;
    const Dtype dtype = each->bytes ? Dtype::i8 : kRealDtype;
    end += static_cast<std::size_t>(each->shape().size()) * bytes_of(dtype);
    header[each->name] = {{"dtype", name_of(dtype)}, {"shape", each->shape().sizes()}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    fail("{}: a name or metadata cannot be written: {}", name, error.what());
  }
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  require(text.size() <= SafetensorsHeader::kLongest, "{}: its header would have {} bytes, more than the format's {}",
          name, text.size(), SafetensorsHeader::kLongest);

  const std::uint64_t length = text.size();
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(text)));
  for (const NamedTensor* each : sorted)
    if (each->bytes)
      write(std::as_bytes(each->bytes.contiguous().values()));
    else
      write(std::as_bytes(each->tensor.contiguous().values()));
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors, const Metadata& metadata,
                      const AtomicFile::BeforeRename& before) {
  AtomicFile file(path);
  write_tensors(path.string(), tensors, metadata, [&file](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit(before);
}

std::string safetensors_bytes(const std::string& name, std::span<const NamedTensor> tensors) {
  std::string result;
  write_tensors(name, tensors, {}, [&result](std::span<const std::byte> bytes) {
    result.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return result;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path.string()) {
  auto mapping = std::make_shared<MappedFile>(path);
  open(mapping->bytes(), mapping);
}

SafetensorsFile::SafetensorsFile(std::vector<std::byte> bytes, std::string name) : file_(std::move(name)) {
  auto memory = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  open(*memory, memory);
}

void SafetensorsFile::open(std::span<std::byte> bytes, std::shared_ptr<void> owner) {
  header_ = read_safetensors_header(bytes, file_);
  data_ = bytes.data() + header_.data_begin;
  owner_ = std::move(owner);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : header_.entries) names.push_back(name);
  return names;
}

const SafetensorsHeader::Entry& SafetensorsFile::entry(std::string_view name) const {
  const auto found = header_.entries.find(name);
  require(found != header_.entries.end(), "{}: there is no tensor {}", file_, Quoted{name});
  return found->second;
}

SafetensorsFile::Info SafetensorsFile::info(std::string_view name) const {
  const SafetensorsHeader::Entry& found = entry(name);
  return {found.dtype, found.shape, found.end - found.begin};
}

template <class T>
TensorOf<T> SafetensorsFile::native(const SafetensorsHeader::Entry& entry) const {
  std::byte* bytes = data_ + entry.begin;
  if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(T) != 0) {
    TensorOf<T> copy(entry.shape);
    std::memcpy(copy.data(), bytes, entry.end - entry.begin);
    return copy;
  }
  auto owner = std::make_unique<std::shared_ptr<void>>(owner_);
  memory::Buffer buffer =
      memory::Buffer::foreign(bytes, owner.get(), [](void* held) { delete static_cast<std::shared_ptr<void>*>(held); });
  static_cast<void>(owner.release());  // the buffer's now
  return TensorOf<T>(std::move(buffer), reinterpret_cast<T*>(bytes), entry.shape);
}

Tensor SafetensorsFile::tensor(std::string_view name) const {
  const SafetensorsHeader::Entry& found = entry(name);
  if (found.dtype == kRealDtype) return native<Real>(found);
  const std::byte* bytes = data_ + found.begin;
  const auto converted = [&]<class Stored>(auto(*convert)(Stored)) {
    Tensor result(found.shape);
    convert_each<Stored>(bytes, result.size(), result.data(), convert);
    return result;
  };
  switch (found.dtype) {
    case Dtype::f16: return converted(from_half);
    case Dtype::bf16: return converted(from_brain);
    case Dtype::f32: return converted(+[](float x) { return x; });
    case Dtype::f64: return converted(+[](double x) { return x; });
    default:
      fail("{}: tensor {} is {}; only F16, BF16, F32 and F64 can be read as real numbers", file_, Quoted{name},
           name_of(found.dtype));
  }
}

TensorOf<std::int8_t> SafetensorsFile::bytes(std::string_view name) const {
  const SafetensorsHeader::Entry& found = entry(name);
  require(found.dtype == Dtype::i8, "{}: {} is of type {}, not I8", file_, Quoted{name}, name_of(found.dtype));
  return native<std::int8_t>(found);
}

Ids SafetensorsFile::ids(std::string_view name) const {
  const SafetensorsHeader::Entry& found = entry(name);
  if (found.dtype == Dtype::i32) return native<std::int32_t>(found);
  require(found.dtype == Dtype::i64, "{}: tensor {} is {}; only I32 and I64 can be read as ids", file_, Quoted{name},
          name_of(found.dtype));
  Ids result(found.shape);
  convert_each<std::int64_t>(data_ + found.begin, result.size(), result.data(), [&](std::int64_t id) {
    require(id == static_cast<std::int32_t>(id), "{}: tensor {} holds {}, which does not fit 32 bits", file_,
            Quoted{name}, id);
    return id;
  });
  return result;
}

}  // namespace heed
