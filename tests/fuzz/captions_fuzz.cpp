// Any bytes as a file of captions in each of its formats, and as a tar of images. An Error is a good answer; anything
// else is a finding.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "heed/base/error.h"
#include "heed/data/archive.h"
#include "heed/data/gold_boxes.h"
#include "heed/data/sample_files.h"

namespace {

// An error names the file.
template <class Read>
void attempt(const std::string& path, const Read& read) {
  try {
    read();
  } catch (const heed::Error& error) {
    if (std::string_view(error.what()).find(path) == std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  attempt("x.tar", [&] {
    for (const heed::TarMember& member : heed::tar_members(bytes, "x.tar"))
      if (member.offset > size || member.size > size - member.offset) std::abort();
  });
  const int memory = ::memfd_create("captions", 0);
  if (memory < 0 || ::write(memory, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  const std::vector<heed::SampleColumn> columns{{"image", heed::Kind::image},
                                                {.name = "caption", .kind = heed::Kind::text, .output = true}};
  for (const char* format : {"", "captions", "karpathy", "coco"})
    attempt(path, [&] {
      const std::string part = std::string_view(format) == "karpathy" ? "#train" : "";
      const auto records = heed::open_records({.files = {path + part}, .format = format}, columns);
      for (heed::SampleRecord record; records->next(record); record = {})
        if (record.fault.empty() && record.cells.size() != columns.size()) std::abort();
    });
  attempt(path, [&] { heed::read_gold_boxes(path); });
  ::close(memory);
  return 0;
}
