// Any bytes as a lexical shortlist, text or binary, packed or not. An Error is a good answer; anything else is a
// finding.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "heed/align/shortlist.h"
#include "heed/base/error.h"
#include "heed/data/words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using heed::WordCutting, heed::words_from;
  static const auto source = words_from("<unk>\n<s>\n</s>\nthe\nhouse\ncat\n7\n", "source", WordCutting::white_space);
  static const auto target =
      words_from("<unk>\n<s>\n</s>\ndas\nhaus\nkatze\n7\nkater\ndie\n", "target", WordCutting::white_space);
  const int memory = ::memfd_create("shortlist", 0);
  if (memory < 0 || ::write(memory, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  try {
    const heed::Shortlist list = heed::Shortlist::read(path, *source, *target, {});
    const std::vector<std::int32_t> words{0, 1, 2, 3, 4, 5, 6, 7, -1};
    const std::vector<std::int32_t> allowed = list.allowed(words);
    if (!std::ranges::is_sorted(allowed) || allowed.size() < 3) std::abort();
    if (allowed.front() != 0 || allowed.back() >= target->size()) std::abort();
  } catch (const heed::Error& error) {
    if (!std::string_view(error.what()).starts_with(path + ": ")) std::abort();  // an error that does not name the file
  }
  ::close(memory);
  return 0;
}
