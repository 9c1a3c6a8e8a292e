#include "heed/serve/request.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "heed/base/spelling.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr RouteEntry kRoutes[] = {
    {Route::page, "GET", "/", true},
    {Route::models, "GET", "/models", false},
    {Route::explain, "POST", "/explain", false},
    {Route::translate, "POST", "/translate", false},
    {Route::languages, "GET", "/languages", false},
    {Route::live, "GET", "/v2/health/live", true},
    {Route::ready, "GET", "/v2/health/ready", true},
    {Route::server, "GET", "/v2", true},
    {Route::model, "GET", "/v2/models/{model}", false},
    {Route::model_ready, "GET", "/v2/models/{model}/ready", false},
    {Route::infer, "POST", "/v2/models/{model}/infer", false},
    {Route::metrics, "GET", "/metrics", false},
    {Route::openapi, "GET", "/openapi.json", true},
    {Route::trace_schema, "GET", "/trace.schema.json", true},
};

// Nothing that is read here nests deeper; a megabyte of brackets is not worth its memory.
constexpr int kDeepest = 16;

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// %20 becomes a space; in a form + does too.
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

// The text between the braces of an entry's path, if the path fits.
std::optional<std::string_view> matched(std::string_view entry, std::string_view path) {
  const std::size_t open = entry.find('{');
  if (open == std::string_view::npos) {
    if (entry != path) return std::nullopt;
    return std::string_view();
  }
  const std::string_view before = entry.substr(0, open), after = entry.substr(entry.find('}') + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
    return std::nullopt;
  const std::string_view name = path.substr(before.size(), path.size() - before.size() - after.size());
  if (name.find('/') != std::string_view::npos) return std::nullopt;
  return name;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return result;
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

Json read_json(const std::string& body) {
  if (body.empty()) refuse(400, "the body is empty; a JSON object is expected");
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) refuse(400, "the JSON is nested deeper than {} levels", kDeepest);
    return true;
  };
  try {
    Json json = Json::parse(body, shallow);
    if (!json.is_object()) refuse(400, "the body must be a JSON object, not {}", json.type_name());
    return json;
  } catch (const Json::parse_error& error) {
    const std::string_view text = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    const std::size_t begin = text.find("] ");
    refuse(400, "the body is not JSON: {}", text.substr(begin == std::string_view::npos ? 0 : begin + 2));
  } catch (const Json::out_of_range&) {
    refuse(400, "the JSON has a number that is too large");
  }
}

// What curl sends by default is called a form, whatever it is.
bool is_form(const HttpRequest& request) {
  return lower(request.content_type).starts_with("application/x-www-form-urlencoded") && !request.body.starts_with('{');
}

// The members of an object, each with the type it must have. In a form every value is a text.
class Members {
 public:
  explicit Members(const Json& json, bool form = false) : json_(json), form_(form) {}

  // Null counts as absent.
  const Json* find(const char* name) const {
    const auto member = json_.find(name);
    return member == json_.end() || member->is_null() ? nullptr : &*member;
  }
  void read(const char* name, std::string& value) const {
    const Json* member = find(name);
    if (member == nullptr) return;
    if (!member->is_string()) refuse(400, "{} must be a text, not {}", name, kind(*member));
    value = member->get<std::string>();
  }
  void read(const char* name, bool& value) const {
    const Json* member = find(name);
    if (member == nullptr) return;
    if (!member->is_boolean()) refuse(400, "{} must be true or false, not {}", name, kind(*member));
    value = member->get<bool>();
  }
  void read(const char* name, Index& value, Index least, Index most) const {
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
  // Any other member is a mistake.
  void only(std::span<const std::string> known) const {
    for (const auto& [name, value] : json_.items())
      if (std::find(known.begin(), known.end(), name) == known.end())
        refuse(400, "there is no field {}{}", shown(name), did_you_mean(shown(name), known));
  }

  static std::string kind(const Json& value) {
    if (value.is_string()) return "a text";
    if (value.is_number_integer()) return "a whole number";
    if (value.is_number()) return "a number with a fraction";
    if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
    if (value.is_array()) return "a list";
    return value.is_null() ? "null" : "an object";
  }

 private:
  static std::string shown(const std::string& name) { return name.size() <= 40 ? name : name.substr(0, 40); }

  const Json& json_;
  bool form_;
};

void check_text(const char* name, const std::string& text, const RequestLimits& limits) {
  if (!valid_utf8(text)) refuse(400, "{} is not valid UTF-8", name);
  const Index count = static_cast<Index>(count_characters(text));
  if (count > limits.text) refuse(422, "{} has {} characters; at most {} are allowed", name, count, limits.text);
}

void check_texts(const char* name, const std::vector<std::string>& texts, const RequestLimits& limits) {
  if (static_cast<Index>(texts.size()) > limits.texts)
    refuse(422, "{} has {} texts; at most {} are allowed", name, texts.size(), limits.texts);
  for (const std::string& text : texts) check_text(name, text, limits);
}

std::string text_in(const char* name, const Json& item) {
  if (!item.is_string()) refuse(400, "{} must hold texts, not {}", name, Members::kind(item));
  return item.get<std::string>();
}

// A tensor's data, flat or nested as its shape is, in order.
void flatten(const Json& data, std::vector<std::string>& texts) {
  if (!data.is_array()) {
    texts.push_back(text_in("data", data));
    return;
  }
  for (const Json& item : data) flatten(item, texts);
}

}  // namespace

HttpResponse error_response(int status, const std::string& text) {
  const Json body{{"error", text}};
  HttpResponse response{status, body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::span<const RouteEntry> routes() { return kRoutes; }

RoutedRequest route_of(const HttpRequest& request) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  std::string allowed;
  for (const RouteEntry& entry : kRoutes) {
    const std::optional<std::string_view> name = matched(entry.path, path);
    if (!name) continue;
    const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
    if (method == entry.method) return {&entry, percent_decoded(*name, false)};
    allowed = entry.method;
  }
  if (!allowed.empty()) throw HttpError(405, fmt::format("this path takes {} only", allowed), allowed);
  refuse(404, "there is nothing at this path; GET /openapi.json lists what there is");
}

TranslateRequest translate_request(const HttpRequest& request, const RequestLimits& limits) {
  const bool form = is_form(request);
  const Json json = form ? read_form(request.body) : read_json(request.body);
  const Members members(json, form);
  TranslateRequest result;
  members.read("model", result.model);
  members.read("source", result.source);
  members.read("target", result.target);
  members.read("alternatives", result.alternatives, 0, limits.alternatives);
  std::string format = "text";
  members.read("format", format);
  if (format != "text") refuse(400, "format must be text; others are not translated");
  const Json* q = members.find("q");
  if (q == nullptr) refuse(400, "q is missing: the text to translate, or a list of texts");
  result.list = q->is_array();
  if (result.list) {
    for (const Json& item : *q) result.texts.push_back(text_in("q", item));
  } else {
    if (!q->is_string()) refuse(400, "q must be a text or a list of texts, not {}", Members::kind(*q));
    result.texts.push_back(q->get<std::string>());
  }
  check_texts("q", result.texts, limits);
  return result;
}

ExplainRequest explain_request(const HttpRequest& request, const RequestLimits& limits) {
  static const std::vector<std::string> known{"model",      "text",         "target", "beam",
                                              "attentions", "alternatives", "trust",  "normaliser"};
  const Json json = read_json(request.body);
  const Members members(json);
  members.only(known);
  ExplainRequest result;
  result.stream = lower(request.accept).find("text/event-stream") != std::string::npos;
  if (members.find("text") == nullptr) refuse(400, "text is missing: the sentence to look at");
  members.read("text", result.text);
  members.read("model", result.model);
  members.read("beam", result.beam, 1, limits.beam);
  members.read("attentions", result.attentions);
  members.read("alternatives", result.alternatives);
  members.read("trust", result.trust);
  members.read("normaliser", result.normaliser);
  if (members.find("target") != nullptr) members.read("target", result.target.emplace());
  check_text("text", result.text, limits);
  if (result.target) check_text("target", *result.target, limits);
  if (result.text.find_first_not_of(" \t\r\n") == std::string::npos) refuse(422, "text is empty: nothing to look at");
  return result;
}

InferRequest infer_request(const HttpRequest& request, const RequestLimits& limits) {
  const Json json = read_json(request.body);
  const Members members(json);
  InferRequest result;
  members.read("id", result.id);
  const Json* inputs = members.find("inputs");
  if (inputs == nullptr || !inputs->is_array() || inputs->size() != 1 || !inputs->front().is_object())
    refuse(400, "inputs must be a list of one tensor, named text");
  const Members tensor(inputs->front());
  std::string name, type;
  tensor.read("name", name);
  tensor.read("datatype", type);
  if (name != "text") refuse(400, "the input tensor must be named text");
  if (type != "BYTES") refuse(400, "the datatype of text must be BYTES");
  const Json* data = tensor.find("data");
  if (data == nullptr || !data->is_array()) refuse(400, "the data of text must be a list of texts");
  flatten(*data, result.texts);
  const Json* shape = tensor.find("shape");
  if (shape == nullptr || !shape->is_array() || shape->size() > 8) refuse(400, "the shape of text must be a list");
  Index product = 1;
  for (const Json& size : *shape) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > result.texts.size())
      refuse(400, "the shape of text does not fit its {} texts", result.texts.size());
    result.shape.push_back(size.get<Index>());
    product = std::min<Index>(product * result.shape.back(), Index{1} << 30);
  }
  if (product != static_cast<Index>(result.texts.size()))
    refuse(400, "the shape of text holds {} texts, but its data has {}", product, result.texts.size());
  if (const Json* outputs = members.find("outputs"); outputs != nullptr) {
    if (!outputs->is_array()) refuse(400, "outputs must be a list");
    for (const Json& output : *outputs)
      if (!output.is_object() || output.value("name", Json()) != "translation")
        refuse(400, "the only output is translation");
  }
  check_texts("text", result.texts, limits);
  return result;
}

std::string token_of(const HttpRequest& request) {
  constexpr std::string_view bearer = "bearer ";
  if (lower(request.authorization).starts_with(bearer)) return request.authorization.substr(bearer.size());
  if (!request.target.starts_with("/translate")) return "";
  const bool form = is_form(request);
  const Json json = form ? read_form(request.body) : read_json(request.body);
  std::string key;
  Members(json, form).read("api_key", key);
  return key;
}

bool same_token(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return difference == 0;
}

std::string_view host_name(std::string_view host) {
  if (host.starts_with("[")) return host.substr(0, std::min(host.find(']'), host.size() - 1) + 1);
  return host.substr(0, host.find(':'));
}

bool same_origin(std::string_view origin, std::string_view host) {
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos || host.empty()) return false;
  return lower(origin.substr(scheme + 3)) == lower(host);
}

}  // namespace heed
