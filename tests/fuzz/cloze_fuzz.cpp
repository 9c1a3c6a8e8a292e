// Any bytes as a file of questions in each of the formats, the first byte saying which. What cannot be used is counted,
// what cannot be read at all is an Error; anything else is a finding.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/data/blank.h"
#include "heed/data/samples.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("heed-cloze-fuzz-" + std::to_string(::getpid()));
  constexpr const char* kFormats[] = {"cbt", "cnn", "cmrc", "cloth", "lambada", "jsonl"};
  heed::write_file(file, {reinterpret_cast<const char*>(data) + 1, size - 1});
  try {
    heed::Samples samples({.files = {file.string()}, .format = kFormats[data[0] % std::size(kFormats)]},
                          {{.name = "answer", .kind = heed::Kind::choice, .output = true},
                           {.name = "document", .kind = heed::Kind::document},
                           {.name = "question", .blank = true}});
    for (heed::Sample sample; samples.next(sample);)
      if (!heed::valid_utf8(sample.inputs[0].text) || heed::with_blank(sample.inputs[1].text).blanks != 1) std::abort();
  } catch (const heed::Error&) {
  }
  return 0;
}
