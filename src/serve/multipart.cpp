#include "heed/serve/multipart.h"

#include "heed/serve/body-inl.h"

namespace heed {
namespace {

constexpr std::string_view kLineEnd = "\r\n", kBlanks = " \t";
constexpr std::size_t kLongestBoundary = 70, kLongestHeader = 8192;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// The next `; name=value` of a field that begins after its first word; the value is quoted, with \" and \\ in it, or
// bare. False at the end.
bool next_parameter(std::string_view& field, std::string& name, std::string& value) {
  const std::size_t begin = field.find_first_not_of("; \t");
  if (begin == std::string_view::npos) return false;
  field.remove_prefix(begin);
  const std::size_t end = std::min(field.find_first_of("=;"), field.size());
  name = lowered(trimmed(field.substr(0, end)));
  value.clear();
  const bool has_value = end < field.size() && field[end] == '=';
  field.remove_prefix(std::min(end + 1, field.size()));
  if (!has_value) return true;
  field.remove_prefix(std::min(field.find_first_not_of(kBlanks), field.size()));
  if (!field.starts_with('"')) {
    const std::string_view bare = field.substr(0, field.find(';'));
    value = trimmed(bare);
    field.remove_prefix(bare.size());
    return true;
  }
  std::size_t i = 1;
  for (; i < field.size() && field[i] != '"'; ++i) {
    // Browsers write a quote as %22 and leave the backslashes of a path alone: only these two are escapes.
    if (field[i] == '\\' && i + 1 < field.size() && (field[i + 1] == '"' || field[i + 1] == '\\')) ++i;
    value += field[i];
  }
  if (i >= field.size()) refuse(400, "a quoted value of the form's header does not end");
  field.remove_prefix(i + 1);
  return true;
}

std::string boundary_of(const HttpRequest& request) {
  std::string_view rest = request.content_type;
  rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  std::string name, value;
  while (next_parameter(rest, name, value))
    if (name == "boundary") {
      if (value.empty() || value.size() > kLongestBoundary || value.find_first_of("\r\n") != std::string::npos)
        refuse(400, "the form's boundary must have 1 to {} characters", kLongestBoundary);
      return value;
    }
  refuse(400, "the Content-Type multipart/form-data has no boundary");
}

// A line "--boundary" from `from` on, which begins the body or follows a line end: where what stands before it ends,
// where what comes after it begins, and whether it closes the form.
struct Delimiter {
  std::size_t before = std::string_view::npos, after = 0;
  bool closes = false;
};
Delimiter find_delimiter(std::string_view body, const std::string& dashed, std::size_t from) {
  for (std::size_t at = body.find(dashed, from); at != std::string_view::npos; at = body.find(dashed, at + 1)) {
    const bool begins_line = at == 0 || (at >= from + 2 && body.substr(at - 2, 2) == kLineEnd);
    if (!begins_line) continue;
    std::size_t end = at + dashed.size();
    const bool closes = body.substr(end, 2) == "--";
    if (closes) end += 2;
    end = std::min(body.find_first_not_of(kBlanks, end), body.size());
    if (body.substr(end, 2) != kLineEnd && !(closes && end == body.size())) continue;
    return {at == 0 ? 0 : at - 2, std::min(end + 2, body.size()), closes};
  }
  return {};
}

FormPart part_in(std::string_view bytes) {
  FormPart part;
  while (true) {
    const std::size_t end = bytes.find(kLineEnd);
    if (end == std::string_view::npos) refuse(400, "a part of the form has no empty line after its header");
    if (end > kLongestHeader) refuse(400, "a header of the form is longer than {} bytes", kLongestHeader);
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + kLineEnd.size());
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) refuse(400, "a header of the form has no colon");
    const std::string field = lowered(trimmed(line.substr(0, colon)));
    std::string_view value = trimmed(line.substr(colon + 1));
    if (field == "content-type") part.type = value;
    if (field != "content-disposition") continue;
    if (lowered(trimmed(value.substr(0, value.find(';')))) != "form-data")
      refuse(400, "a part of the form is not form-data");
    value.remove_prefix(std::min(value.find(';'), value.size()));
    std::string name, text;
    while (next_parameter(value, name, text)) {
      if (name == "name") part.name = text;
      if (name == "filename") part.file_name = text, part.is_file = true;
    }
  }
  part.body = bytes;
  return part;
}

}  // namespace

bool is_multipart_form(const HttpRequest& request) {
  const std::string type = lowered(request.content_type);
  return trimmed(std::string_view(type).substr(0, type.find(';'))) == "multipart/form-data";
}

std::vector<FormPart> multipart_form(const HttpRequest& request, std::size_t most) {
  const std::string_view body = request.body;
  const std::string dashed = "--" + boundary_of(request);
  std::vector<FormPart> parts;
  Delimiter last = find_delimiter(body, dashed, 0);
  while (last.before != std::string_view::npos && !last.closes) {
    // The line end that belongs to the next delimiter may be the one that ended this: an empty part has no bytes.
    const Delimiter next = find_delimiter(body, dashed, last.after);
    if (next.before == std::string_view::npos) break;
    if (parts.size() == most) refuse(413, "the form has more than {} parts", most);
    parts.push_back(part_in(body.substr(last.after, next.before - last.after)));
    last = next;
  }
  if (!last.closes) refuse(400, "the form's closing boundary is missing");
  return parts;
}

}  // namespace heed
