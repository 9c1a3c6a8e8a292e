#include "heed/serve/answers.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/serve/content_policy.h"
#include "heed/serve/documents.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse json_answer(const Json& json) {
  return {200, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

Json tensor_description(const char* name) { return {{"name", name}, {"datatype", "BYTES"}, {"shape", {-1}}}; }

const char* side_name(TraceSide side) { return side == TraceSide::source ? "source" : "target"; }

}  // namespace

HttpResponse page_answer(std::string_view html, std::string_view scripts) {
  if (!html.empty())
    return {200,
            std::string(html),
            "text/html; charset=utf-8",
            {{"Content-Security-Policy", content_policy(scripts)}, {"Referrer-Policy", "no-referrer"}}};
  return {
      200,
      "This is a Heed server. Its page was not built in; its interface is at /openapi.json. For example:\n\n"
      "  curl http://localhost:8080/translate -H 'Content-Type: application/json' -d '{\"q\": \"a small house\"}'\n",
      "text/plain; charset=utf-8"};
}

HttpResponse models_answer(const ModelShelf& models) {
  Json list = Json::array();
  for (const auto& model : models.models()) {
    Json attentions = Json::array();
    for (const TraceAttention& attention : model->attentions())
      attentions.push_back(Json{{"name", attention.name},
                                {"layer", attention.layer},
                                {"heads", attention.weights.size(0)},
                                {"rows", side_name(attention.rows)},
                                {"columns", side_name(attention.columns)}});
    list.push_back(Json{{"name", model->name()},
                        {"system", model->bundle()->name},
                        {"attention", attention_of(*model->bundle())},
                        {"parameters", model->bundle()->parameters->count()},
                        {"attentions", std::move(attentions)}});
  }
  return json_answer(Json{{"models", std::move(list)}});
}

HttpResponse languages_answer(const ModelShelf& models) {
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& model : models.models())
    if (!model->source_language().empty()) targets[model->source_language()].insert(model->target_language());
  Json list = Json::array();
  for (const auto& [source, to] : targets) list.push_back(Json{{"code", source}, {"name", source}, {"targets", to}});
  return json_answer(list);
}

HttpResponse server_answer() {
  return json_answer(Json{{"name", "heed"}, {"version", heed_version()}, {"extensions", Json::array()}});
}

HttpResponse model_answer(const ServedModel& model) {
  return json_answer(Json{{"name", model.name()},
                          {"versions", {"1"}},
                          {"platform", "heed_" + model.bundle()->name},
                          {"inputs", Json::array({tensor_description("text")})},
                          {"outputs", Json::array({tensor_description("translation")})}});
}

HttpResponse model_ready_answer(const ServedModel& model) {
  return json_answer(Json{{"name", model.name()}, {"ready", true}});
}

}  // namespace heed
