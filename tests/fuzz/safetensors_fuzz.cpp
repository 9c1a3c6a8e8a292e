// Any bytes as a safetensors file: everything it lists is read. An Error is a good answer;
// anything else is a finding.

#include <cstdint>
#include <cstdlib>

#include "heed/base/error.h"
#include "heed/store/safetensors.h"

namespace {

// Touches every number, so that the sanitizer sees a range that is too long.
template <class T>
void touch(const heed::TensorOf<T>& tensor) {
  volatile T last{};
  for (const T value : tensor.values()) last = value;
}

void read_all(const heed::SafetensorsFile& file) {
  std::size_t bytes = 0;
  for (const std::string& name : file.names()) {
    const heed::SafetensorsFile::Info info = file.info(name);
    bytes += info.bytes;
    if (static_cast<std::size_t>(info.shape.size()) * heed::bytes_of(info.dtype) != info.bytes) std::abort();
    try {
      touch(file.tensor(name));
    } catch (const heed::Error&) {
    }
    try {
      touch(file.ids(name));
    } catch (const heed::Error&) {
    }
  }
  if (bytes > std::size_t{1} << 30) std::abort();  // no input is that long
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    read_all(heed::SafetensorsFile(std::vector<std::byte>(bytes, bytes + size), "fuzz"));
  } catch (const heed::Error& error) {
    if (std::string_view(error.what()).rfind("fuzz: ", 0) != 0) std::abort();  // an error that does not name the file
  }
  return 0;
}
