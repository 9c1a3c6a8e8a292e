#include "heed/serve/request.h"

#include <algorithm>

#include "heed/base/white_space.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/multipart.h"

namespace heed {
namespace {

using Json = nlohmann::json;

// One value per input: an object of them, or the text of the only one.
std::vector<SentInput> explained_inputs(const Members& members) {
  const Json *text = members.find("text"), *inputs = members.find("inputs");
  if (text != nullptr && inputs != nullptr) refuse(400, "text and inputs are both there; one of them is enough");
  if (text != nullptr) {
    SentValue value;
    members.read("text", value.bytes);
    return {{"text", {std::move(value)}}};
  }
  if (inputs == nullptr) refuse(400, "text is missing: what to look at; inputs names several");
  if (!inputs->is_object()) refuse(400, "inputs must be an object of values by name, not {}", Members::kind(*inputs));
  std::vector<SentInput> list;
  for (const auto& [name, value] : inputs->items()) list.push_back({name, {value_in(name, value)}});
  return list;
}

// All of them, none, or some by their names.
void read_attentions(const Members& members, ExplainRequest& result) {
  const Json* wanted = members.find("attentions");
  if (wanted == nullptr || !wanted->is_array()) return members.read("attentions", result.attentions);
  for (const Json& name : *wanted) result.attention_names.push_back(text_in("attentions", name));
  result.attentions = !wanted->empty();
}

// A name that comes several times has several values.
VerbRequest form_request(const HttpRequest& request) {
  VerbRequest result;
  for (const FormPart& part : multipart_form(request)) {
    if (part.name.empty()) refuse(400, "a part of the form has no name");
    if (part.name == "model" && !part.is_file) {
      result.model = part.body;
      continue;
    }
    const auto known = std::find_if(result.inputs.begin(), result.inputs.end(),
                                    [&](const SentInput& input) { return input.name == part.name; });
    SentInput& input = known != result.inputs.end() ? *known : result.inputs.emplace_back(SentInput{part.name, {}});
    input.values.push_back({std::string(part.body), part.is_file});
  }
  return result;
}

}  // namespace

ExplainRequest explain_request(const HttpRequest& request, const RequestLimits& limits) {
  static const std::vector<std::string> known{"model", "text",       "inputs",       "choices", "target",
                                              "beam",  "attentions", "alternatives", "trust",   "normaliser"};
  const Json json = read_json(request.body);
  const Members members(json);
  members.only(known);
  ExplainRequest result;
  result.stream = lowered(request.accept).find("text/event-stream") != std::string::npos;
  result.inputs = explained_inputs(members);
  members.read("model", result.model);
  members.read("beam", result.beam, 1, limits.beam);
  read_attentions(members, result);
  members.read("alternatives", result.alternatives);
  members.read("trust", result.trust);
  members.read("normaliser", result.normaliser);
  if (members.find("target") != nullptr) members.read("target", result.target.emplace());
  if (result.target) check_text("target", *result.target, limits);
  result.choices = texts_in("choices", members);
  for (const SentInput& input : result.inputs)
    if (is_blank(input.values.front().bytes)) refuse(422, "{} is empty: nothing to look at", input.name);
  return result;
}

VerbRequest verb_request(const HttpRequest& request) {
  if (is_multipart_form(request)) return form_request(request);
  const Json json = read_json(request.body);
  VerbRequest result;
  Members(json).read("model", result.model);
  for (const auto& [name, member] : json.items()) {
    if (name == "model" || member.is_null()) continue;
    const bool several = name == "texts";
    if (several && !member.is_array()) refuse(400, "texts must be a list of texts, not {}", Members::kind(member));
    SentInput& input = result.inputs.emplace_back(SentInput{several ? "text" : name, {}});
    if (!member.is_array())
      input.values.push_back(value_in(name, member));
    else
      for (const Json& item : member) input.values.push_back(value_in(name, item));
  }
  return result;
}

std::string token_of(const HttpRequest& request, const std::string& field) {
  constexpr std::string_view bearer = "bearer ";
  if (lowered(request.authorization).starts_with(bearer)) return request.authorization.substr(bearer.size());
  return field.empty() || !request.authorization.empty() ? "" : text_member(request, field);
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
  return lowered(origin.substr(scheme + 3)) == lowered(host);
}

}  // namespace heed
