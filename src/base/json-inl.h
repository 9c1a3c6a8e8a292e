#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "heed/base/real.h"

namespace heed {

// How deep objects and lists may stand in each other in whatever is read. Parsing itself goes to any depth in constant
// stack, but whoever walks over the values afterwards, to copy or to write them, recurses.
inline constexpr int kDeepestJson = 16;
// Bytes of the files that a model folder has; what is larger has its own reader.
inline constexpr std::size_t kLargestJsonFile = std::size_t{16} << 20;

// The one way to read JSON, as nlohmann::json or ordered_json. Text that is none, that nests deeper than kDeepestJson
// or has a number that no double holds is an Error that leads with `who`.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, const std::string& who);
// The same of a text that may well be something else; null where it is no object.
template <class Json = nlohmann::json>
Json object_or_null(std::string_view text);
// The same as parse_json of a whole file, which leads the errors; one of more than `limit` bytes is an Error.
template <class Json = nlohmann::json>
Json read_json_file(const std::filesystem::path& file, std::size_t limit = kLargestJsonFile);

// A number of an object, or `otherwise` if it is missing or null; anything else there is an Error that leads with `who`
// and names the field.
template <class Json>
double number_field(const Json& object, const char* name, double otherwise, const std::string& who);
template <class Json>
Index whole_field(const Json& object, const char* name, Index otherwise, const std::string& who);

// Whether objects and lists stand deeper in each other than kDeepestJson, seen without parsing.
bool nests_too_deep(std::string_view json);

}  // namespace heed
