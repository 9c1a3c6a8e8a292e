// Any bytes as a file of word vectors, packed or not. An Error is a good answer; anything else is a finding.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "heed/base/error.h"
#include "heed/data/word_vectors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int memory = ::memfd_create("vectors", 0);
  if (memory < 0 || ::write(memory, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  try {
    const heed::WordVectors found = heed::read_word_vectors(path, [](std::string_view word) { return word != "no"; });
    if (found.vectors.size(0) != static_cast<heed::Index>(found.words.size())) std::abort();
    if (found.read < found.vectors.size(0)) std::abort();
    for (const heed::Real value : found.vectors.values())
      if (!std::isfinite(value)) std::abort();
  } catch (const heed::Error& error) {
    if (!std::string_view(error.what()).starts_with(path + ": ")) std::abort();  // an error that does not name the file
  }
  ::close(memory);
  return 0;
}
