#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json-inl.h"

namespace heed {

// Up to the first fault of a text that is no JSON this counts as the parser does, and there the parser ends.
bool nests_too_deep(std::string_view json) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > kDeepestJson) return true;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

template <class Json>
Json parse_json(std::string_view text, const std::string& who) {
  require(!nests_too_deep(text), "{}: it is nested deeper than {} levels", who, kDeepestJson);
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& error) {
    fail("{}: it is not valid JSON at byte {}", who, error.byte);
  } catch (const typename Json::exception&) {
    fail("{}: it has a number that is too large", who);
  }
}

template <class Json>
Json object_or_null(std::string_view text) {
  if (nests_too_deep(text)) return {};
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json();
}

template <class Json>
Json read_json_file(const std::filesystem::path& file, std::size_t limit) {
  return parse_json<Json>(read_file(file, limit), file.string());
}

template <class Json>
double number_field(const Json& object, const char* name, double otherwise, const std::string& who) {
  const auto field = object.find(name);
  if (field == object.end() || field->is_null()) return otherwise;
  require(field->is_number(), "{}: the field {} must be a number, not {}", who, name, field->type_name());
  return field->template get<double>();
}

template <class Json>
Index whole_field(const Json& object, const char* name, Index otherwise, const std::string& who) {
  const auto field = object.find(name);
  if (field == object.end() || field->is_null()) return otherwise;
  require(field->is_number_integer(), "{}: the field {} must be a whole number, not {}", who, name, field->type_name());
  return field->template get<Index>();
}

template nlohmann::json parse_json(std::string_view, const std::string&);
template nlohmann::ordered_json parse_json(std::string_view, const std::string&);
template nlohmann::json object_or_null(std::string_view);
template nlohmann::ordered_json object_or_null(std::string_view);
template nlohmann::json read_json_file(const std::filesystem::path&, std::size_t);
template nlohmann::ordered_json read_json_file(const std::filesystem::path&, std::size_t);
template double number_field(const nlohmann::ordered_json&, const char*, double, const std::string&);
template Index whole_field(const nlohmann::ordered_json&, const char*, Index, const std::string&);

}  // namespace heed
