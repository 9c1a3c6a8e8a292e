#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/base/utf8.h"
#include "heed/data/sample_files.h"

namespace heed {
namespace {

using Json = nlohmann::json;

// What stands in a field: an input is a text; an output may be a number or several texts.
std::optional<std::vector<std::string>> texts_of(const Json& field, bool output) {
  if (field.is_string()) return std::vector{field.get<std::string>()};
  if (!output) return std::nullopt;
  if (field.is_number()) return std::vector{field.dump()};
  if (!field.is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& item : field) {
    if (!item.is_string()) return std::nullopt;
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

// What can be chosen, where that is said; false if it is not a list of texts.
bool read_choices(const Json& object, std::vector<std::string>& choices) {
  for (const char* name : {"choices", "candidates", "options"}) {
    const auto field = object.find(name);
    if (field == object.end()) continue;
    std::optional<std::vector<std::string>> texts = field->is_array() ? texts_of(*field, true) : std::nullopt;
    if (!texts) return false;
    choices = std::move(*texts);
    return true;
  }
  return true;
}

class JsonLines final : public SampleFormat {
 public:
  explicit JsonLines(std::vector<SampleColumn> columns) : columns_(std::move(columns)) {}

  bool next(FileLines& lines, SampleRecord& record) override {
    std::string line;
    if (!lines.next(line)) return false;
    record.place = {lines.name(), lines.number()};
    const bool chooses = std::ranges::any_of(columns_, [](const SampleColumn& c) { return c.kind == Kind::choice; });
    if (const std::string fault = read_json_sample(line, columns_, chooses, record); !fault.empty())
      record.fault = "left out, " + fault;
    return true;
  }

 private:
  std::vector<SampleColumn> columns_;
};

}  // namespace

std::string read_json_sample(const std::string& line, std::span<const SampleColumn> columns, bool chooses,
                             SampleRecord& record) {
  if (!valid_utf8(line)) return "not UTF-8";
  if (nests_too_deep(line)) return fmt::format("nested deeper than {}", kDeepestJson);
  const Json object = object_or_null(line);
  if (!object.is_object()) return "not a JSON object";
  for (const SampleColumn& column : columns) {
    auto field = object.find(column.name);
    for (const std::string& name : column.also)
      if (field == object.end()) field = object.find(name);
    if (field == object.end()) return fmt::format("without the field {}", column.name);
    std::optional<std::vector<std::string>> texts = texts_of(*field, column.output);
    if (!texts) return fmt::format("the field {} is no text", column.name);
    record.cells.push_back(std::move(*texts));
  }
  return chooses && !read_choices(object, record.choices) ? "its choices are no texts" : "";
}

std::unique_ptr<SampleFormat> jsonl_format(std::vector<SampleColumn> columns) {
  return std::make_unique<JsonLines>(std::move(columns));
}

}  // namespace heed
