#include "heed/serve/body-inl.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/base/spelling.h"
#include "heed/base/utf8.h"
#include "heed/base/base64.h"

namespace heed {
namespace {

using Json = nlohmann::json;

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// name=value&name=value, as an object of texts; a name that comes twice becomes a list.
Json read_form(std::string_view body) {
  Json object = Json::object();
  while (!body.empty()) {
    const std::string_view pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(body.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = percent_decoded(pair.substr(0, equals), true);
    std::string value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())), true);
    Json& place = object[name];
    if (place.is_null()) {
      place = std::move(value);
    } else {
      if (!place.is_array()) place = Json::array({place});
      place.push_back(std::move(value));
    }
  }
  return object;
}

// Looks through JSON for a text of its object, and ends there.
class TextSearch final : public Json::json_sax_t {
 public:
  explicit TextSearch(std::string name) : name_(std::move(name)) {}
  const std::string& found() const { return found_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& text) override {
    if (depth_ != 1 || !here_) return true;
    found_ = std::move(text);
    return false;
  }
  bool key(string_t& name) override {
    here_ = depth_ == 1 && name == name_;
    return true;
  }
  bool start_object(std::size_t) override { return ++depth_ <= kDeepestJson; }
  bool end_object() override { return --depth_ > 0; }
  bool start_array(std::size_t) override { return depth_ > 0 && ++depth_ <= kDeepestJson; }
  bool end_array() override { return --depth_ > 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::string name_, found_;
  int depth_ = 0;
  bool here_ = false;  // the name was the last key
};

std::string form_member(std::string_view body, const std::string& name) {
  while (!body.empty()) {
    const std::string_view pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(body.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name)
      return percent_decoded(pair.substr(equals + 1), true);
  }
  return "";
}

// What curl sends by default is called a form, whatever it is.
bool is_form(const HttpRequest& request) {
  return lowered(request.content_type).starts_with("application/x-www-form-urlencoded") &&
         !request.body.starts_with('{');
}

}  // namespace

std::string shown(const std::string& name) { return name.substr(0, valid_utf8_prefix(name.substr(0, 40))); }

HttpResponse error_response(int status, const std::string& text) {
  HttpResponse response = json_answer(Json{{"error", text}});
  response.status = status;
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return result;
}

std::string percent_decoded(std::string_view text, bool form) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && form) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      const int high = i + 2 < text.size() ? hexadecimal(text[i + 1]) : -1;
      const int low = high >= 0 ? hexadecimal(text[i + 2]) : -1;
      if (low < 0) refuse(400, "'%' must be followed by two hexadecimal digits");
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

Json read_json(std::string_view body) {
  if (body.empty()) refuse(400, "the body is empty; a JSON object is expected");
  Json json;
  try {
    json = parse_json(body, "the body");
  } catch (const Error& error) {
    refuse(400, "{}", error.what());
  }
  if (!json.is_object()) refuse(400, "the body must be a JSON object, not {}", json.type_name());
  return json;
}

std::string text_member(const HttpRequest& request, const std::string& name) {
  try {
    if (is_form(request)) return form_member(request.body, name);
  } catch (const HttpError&) {
    return "";
  }
  TextSearch search(name);
  Json::sax_parse(request.body, &search);
  return search.found();
}

ObjectOrForm read_object_or_form(const HttpRequest& request) {
  if (is_form(request)) return {read_form(request.body), true};
  return {read_json(request.body), false};
}

const Json* Members::find(const char* name) const {
  const auto member = json_.find(name);
  return member == json_.end() || member->is_null() ? nullptr : &*member;
}

void Members::read(const char* name, std::string& value) const {
  const Json* member = find(name);
  if (member == nullptr) return;
  if (!member->is_string()) refuse(400, "{} must be a text, not {}", name, kind(*member));
  value = member->get<std::string>();
}

void Members::read(const char* name, bool& value) const {
  const Json* member = find(name);
  if (member == nullptr) return;
  if (!member->is_boolean()) refuse(400, "{} must be true or false, not {}", name, kind(*member));
  value = member->get<bool>();
}

void Members::read(const char* name, Index& value, Index least, Index most) const {
  const Json* member = find(name);
  if (member == nullptr) return;
  std::optional<Index> number;
  if (member->is_number_unsigned()) {
    const std::uint64_t wide = member->get<std::uint64_t>();
    number = wide > static_cast<std::uint64_t>(most) ? most + 1 : static_cast<Index>(wide);
  } else if (member->is_number_integer()) {
    number = member->get<Index>();
  } else if (form_ && member->is_string()) {
    const std::string& text = member->get_ref<const std::string&>();
    Index found = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
    if (error == std::errc() && end == text.data() + text.size()) number = found;
  }
  if (!number) refuse(400, "{} must be a whole number, not {}", name, kind(*member));
  if (*number < least || *number > most) refuse(400, "{} must be from {} to {}", name, least, most);
  value = *number;
}

void Members::only(std::span<const std::string> known) const {
  for (const auto& [name, value] : json_.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse(400, "there is no field {}{}", shown(name), did_you_mean(shown(name), known));
}

std::string Members::kind(const Json& value) {
  if (value.is_string()) return "a text";
  if (value.is_number_integer()) return "a whole number";
  if (value.is_number()) return "a number with a fraction";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_array()) return "a list";
  return value.is_null() ? "null" : "an object";
}

std::string text_in(const char* name, const Json& item) {
  if (!item.is_string()) refuse(400, "{} must hold texts, not {}", name, Members::kind(item));
  return item.get<std::string>();
}

std::vector<std::string> texts_in(const char* name, const Members& members) {
  const nlohmann::json* list = members.find(name);
  if (list == nullptr) return {};
  if (!list->is_array()) refuse(400, "{} must be a list of texts, not {}", name, Members::kind(*list));
  std::vector<std::string> texts;
  for (const nlohmann::json& text : *list) texts.push_back(text_in(name, text));
  return texts;
}

SentValue value_in(const std::string& name, const Json& item) {
  if (item.is_string()) return {item.get<std::string>(), false};
  const auto encoded = item.is_object() ? item.find("base64") : item.end();
  if (encoded == item.end() || !encoded->is_string())
    refuse(400, "{} must be a text or {{\"base64\": \"...\"}}, not {}", shown(name), Members::kind(item));
  std::optional<std::string> bytes = from_base64(encoded->get_ref<const std::string&>());
  if (!bytes) refuse(400, "{} is not valid base64", shown(name));
  return {std::move(*bytes), true};
}

}  // namespace heed
