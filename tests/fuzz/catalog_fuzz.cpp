// Any bytes as a gettext catalogue, compiled and source: everything it says is paired. An Error is a good answer;
// anything else is a finding.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/error.h"
#include "heed/data/corpora/catalog.h"

namespace {

template <class Read>
void read_all(const Read& read, std::string_view bytes) {
  try {
    for (const heed::CatalogMessage& message : read(bytes, "fuzz")) {
      if (message.id.empty() || message.translations.empty()) std::abort();  // only what is translated is given
      for (const auto& [source, target] : heed::pairs_of(message))
        if (source.size() + target.size() > 16 * bytes.size()) std::abort();  // no charset makes so much of it
    }
  } catch (const heed::Error& error) {
    if (!std::string_view(error.what()).starts_with("fuzz: ")) std::abort();  // an error that does not name the file
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_all(heed::read_compiled_catalog, bytes);
  read_all(heed::read_source_catalog, bytes);
  return 0;
}
