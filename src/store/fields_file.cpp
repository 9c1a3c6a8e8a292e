#include "heed/store/fields_file.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/store/safetensors_header.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoValue = "{}: {} must be a number, text, true or false, or a list of these";

std::string scalar_text(const Json& value, const std::string& name, const std::string& file) {
  if (value.is_string()) return value.get<std::string>();
  require(value.is_number() || value.is_boolean(), kNoValue, file, Quoted{name});
  return value.dump();
}

// `name: ` without a value is the empty text.
std::string scalar_text(const YAML::Node& value, const std::string& name, const std::string& place) {
  require(value.IsScalar() || value.IsNull(), kNoValue, place, Quoted{name});
  return value.IsNull() ? "" : value.Scalar();
}

// A list's items joined by spaces. Lists of lists are none: nothing here goes as deep as a file does.
template <class Value>
std::string text_of(const Value& value, bool list, const std::string& name, const std::string& place) {
  if (!list) return scalar_text(value, name, place);
  std::string joined;
  for (const auto& item : value) joined += (joined.empty() ? "" : " ") + scalar_text(item, name, place);
  return joined;
}

std::map<std::string, std::string> read_json(const std::string& text, const std::string& file) {
  const Json json = parse_json<Json>(text, file);
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : json.items()) options[name] = text_of(value, value.is_array(), name, file);
  return options;
}

std::map<std::string, std::string> read_yaml(const std::string& text, const std::string& file) {
  const auto place = [&file](const YAML::Mark& mark) { return fmt::format("{}:{}", file, mark.line + 1); };
  std::map<std::string, std::string> options;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    require(documents.size() <= 1, "{}: it has {} documents instead of one", file, documents.size());
    if (documents.empty() || documents.front().IsNull()) return options;
    const YAML::Node& root = documents.front();
    require(!root.IsSequence(), "{}: a list item without an option before it", place(root.Mark()));
    require(root.IsMap(), "{}: expected \"name: value\", not {}", place(root.Mark()), Quoted{root.Scalar()});
    for (const auto& option : root) {
      const std::string at = place(option.first.Mark());
      require(option.first.IsScalar(), "{}: an option's name must be text", at);
      const std::string name = option.first.Scalar();
      const bool is_new = options.emplace(name, text_of(option.second, option.second.IsSequence(), name, at)).second;
      require(is_new, "{}: {} is given twice", at, Quoted{name});
    }
  } catch (const YAML::DeepRecursion&) {
    fail("{}: it is nested deeper than any option is", file);
  } catch (const YAML::Exception& error) {
    fail("{}: it is not valid YAML: {}", error.mark.is_null() ? file : place(error.mark), error.msg);
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
  return first != std::string::npos && text[first] == '{' ? read_json(text, file) : read_yaml(text, file);
}

}  // namespace heed
