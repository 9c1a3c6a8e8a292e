#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "heed/base/real.h"
#include "heed/serve/http.h"
#include "heed/serve/inputs.h"

// The bodies of requests and answers. Only the server's own sources include this. Every fault is an HttpError.

namespace heed {

// {"a": 1} on one line; bytes that are not UTF-8 are replaced.
template <class AnyJson>
std::string one_line(const AnyJson& json) {
  return json.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}
template <class AnyJson>
HttpResponse json_answer(const AnyJson& json) {
  return {200, one_line(json) + "\n"};
}

// A JSON object. Nothing that is read here nests deeply, and what does is refused before it takes memory.
nlohmann::json read_json(std::string_view body);
// A JSON object or a form (name=value&name=value), whose values are texts; a name that comes twice becomes a list.
struct ObjectOrForm {
  nlohmann::json object;
  bool form = false;
};
ObjectOrForm read_object_or_form(const HttpRequest& request);

// One text of such a body, which is searched and not built; empty if it is not there or the body cannot be read.
std::string text_member(const HttpRequest& request, const std::string& name);

// A name that a client made up, as messages show it: its beginning.
std::string shown(const std::string& name);
// A to Z as small letters; header fields are compared so.
std::string lowered(std::string_view text);
// %20 becomes a space; in a form + does too.
std::string percent_decoded(std::string_view text, bool form);

// The members of an object, each with the type it must have. In a form every value is a text.
class Members {
 public:
  explicit Members(const nlohmann::json& json, bool form = false) : json_(json), form_(form) {}

  // Null counts as absent.
  const nlohmann::json* find(const char* name) const;
  void read(const char* name, std::string& value) const;
  void read(const char* name, bool& value) const;
  void read(const char* name, Index& value, Index least, Index most) const;
  // Any other member is a mistake.
  void only(std::span<const std::string> known) const;

  // "a text", "a list": what a value is, for messages.
  static std::string kind(const nlohmann::json& value);

 private:
  const nlohmann::json& json_;
  bool form_;
};

// A text of a list.
std::string text_in(const char* name, const nlohmann::json& item);
// A list of texts; empty if it is absent.
std::vector<std::string> texts_in(const char* name, const Members& members);
// A text, or {"base64": "..."}.
SentValue value_in(const std::string& name, const nlohmann::json& item);

}  // namespace heed
