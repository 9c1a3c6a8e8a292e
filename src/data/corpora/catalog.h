#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

// One message of a gettext catalogue, in UTF-8.
struct CatalogMessage {
  std::string id, plural;                 // the original; `plural` is empty if it has none
  std::vector<std::string> translations;  // one, or one a plural form
};

// The messages of a compiled catalogue (.mo, either byte order) and of a source one (.po). Messages that are not
// translated, marked fuzzy or obsolete, and the header are left out; the header's charset is converted. What is damaged
// is an Error that starts with `name`, and for a .po has the line.
std::vector<CatalogMessage> read_compiled_catalog(std::string_view bytes, const std::string& name);
std::vector<CatalogMessage> read_source_catalog(std::string_view text, const std::string& name);

// What a catalogue says in both languages: the singular with the first form, the plural with the last. Where both sides
// have one mark of a keyboard shortcut ("_Open", "&Open", "~Open"), it is taken out.
std::vector<std::pair<std::string, std::string>> pairs_of(const CatalogMessage& message);

}  // namespace heed
