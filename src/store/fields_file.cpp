#include "heed/store/fields_file.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "heed/base/error.h"
#include "heed/store/safetensors_header.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

// A number, a word or a truth as text; lists joined by spaces.
std::string text_of(const Json& value, const std::string& name, const std::string& file) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string joined;
    for (const Json& item : value) joined += (joined.empty() ? "" : " ") + text_of(item, name, file);
    return joined;
  }
  require(value.is_number() || value.is_boolean(), "{}: {} must be a number, text, true or false", file, Quoted{name});
  return value.dump();
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Without quotes around it, or, if it has none, without the comment after it.
std::string plain(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    return std::string(value.substr(1, value.size() - 2));
  if (value.starts_with('#')) return "";
  return std::string(trimmed(value.substr(0, value.find(" #"))));
}

std::string list_items(std::string_view inside) {
  std::string joined;
  while (!inside.empty()) {
    const std::size_t comma = std::min(inside.find(','), inside.size());
    joined += (joined.empty() ? "" : " ") + plain(trimmed(inside.substr(0, comma)));
    inside.remove_prefix(std::min(comma + 1, inside.size()));
  }
  return joined;
}

std::map<std::string, std::string> read_lines(std::string_view text, const std::string& file) {
  std::map<std::string, std::string> options;
  std::string last;  // the option that list items belong to
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#') || line == "---") continue;
    if (line.starts_with("- ")) {
      require(!last.empty(), "{}:{}: a list item without an option before it", file, number);
      std::string& joined = options[last];
      joined += (joined.empty() ? "" : " ") + plain(trimmed(line.substr(2)));
      continue;
    }
    const std::size_t colon = line.find(':');
    require(colon != std::string_view::npos && colon > 0, "{}:{}: expected \"name: value\", not {}", file, number,
            Quoted{line});
    last = std::string(trimmed(line.substr(0, colon)));
    const std::string_view value = trimmed(line.substr(colon + 1));
    const bool list = value.size() >= 2 && value.front() == '[' && value.back() == ']';
    const bool is_new =
        options.emplace(last, list ? list_items(value.substr(1, value.size() - 2)) : plain(value)).second;
    require(is_new, "{}:{}: {} is given twice", file, number, Quoted{last});
  }
  return options;
}

}  // namespace

std::string fields_json(const VisitFields& visit, int indent) {
  std::string lines;
  for (const FieldDescription& field : describe_fields(visit)) {
    const bool quoted = field.kind == FieldDescription::Kind::text;
    lines += fmt::format("{}\n{:{}}{}: {}", lines.empty() ? "" : ",", "", indent, Json(field.name).dump(),
                         quoted ? Json(field.value).dump() : field.value);
  }
  return fmt::format("{{{}\n{:{}}}}", lines, "", indent - 2);
}

std::map<std::string, std::string> read_options(const std::string& text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    const Json json = Json::parse(text, nullptr, false);
    require(!json.is_discarded(), "{}: it is not valid JSON", file);
    std::map<std::string, std::string> options;
    for (const auto& [name, value] : json.items()) options[name] = text_of(value, name, file);
    return options;
  }
  return read_lines(text, file);
}

}  // namespace heed
