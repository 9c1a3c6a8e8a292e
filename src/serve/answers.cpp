#include "heed/serve/answers.h"

#include "heed/base/version.h"
#include "heed/explain/content_policy.h"
#include "heed/jobs/variant.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/documents.h"
#include "heed/serve/tensors.h"

namespace heed {
namespace {

using Output = nlohmann::ordered_json;

Output tensor_description(const std::string& name, const char* datatype) {
  return {{"name", name}, {"datatype", datatype}, {"shape", {-1}}};
}

Output side_description(const JobSide& side) { return {{"name", side.name}, {"kind", name_of(side.kind)}}; }

// What is known about a model beyond what every model has.
void add_notes(Output& json, const ServedModel& model) {
  if (!model.bundle().codes.labels.empty()) json["labels"] = model.bundle().codes.labels;
  if (!model.languages().empty()) json["languages"] = model.languages();
  if (!model.bundle().example.empty()) json["example"] = model.bundle().example;
}

Output description(const ServedModel& model) {
  const Bundle& bundle = model.bundle();
  Output inputs = Output::array(), attentions = Output::array();
  for (const JobSide& input : bundle.job->inputs) inputs.push_back(side_description(input));
  for (const TraceAttention& attention : model.attentions())
    attentions.push_back(Output{{"name", attention.name},
                                {"layer", attention.layer},
                                {"heads", attention.weights.size(0)},
                                {"rows", attention.rows},
                                {"columns", attention.columns}});
  Output json{{"name", model.name()},
              {"job", bundle.job->name},
              {"verb", bundle.job->verb},
              {"system", bundle.system->name},
              {"attention", attention_of(bundle)},
              {"parameters", bundle.parameters->count()},
              {"inputs", std::move(inputs)},
              {"output", side_description(bundle.job->output)}};
  add_notes(json, model);
  json["attentions"] = std::move(attentions);
  if (!model.normalisers().empty()) json["normalisers"] = model.normalisers();
  return json;
}

}  // namespace

HttpResponse page_answer(std::string_view html, std::string_view scripts) {
  if (!html.empty())
    return {200,
            std::string(html),
            "text/html; charset=utf-8",
            {{"Content-Security-Policy", served_page_policy(scripts)}, {"Referrer-Policy", "no-referrer"}}};
  return {200, "This is a Heed server. Its page was not built in; its interface is at /openapi.json.\n",
          "text/plain; charset=utf-8"};
}

HttpResponse models_answer(const ModelShelf& models) {
  Output list = Output::array();
  for (const auto& model : models.models()) list.push_back(description(*model));
  return json_answer(Output{{"models", std::move(list)}});
}

HttpResponse server_answer() {
  return json_answer(Output{{"name", "heed"}, {"version", heed_version()}, {"extensions", {"binary_tensor_data"}}});
}

HttpResponse model_answer(const ServedModel& model) {
  const Job& job = *model.bundle().job;
  Output inputs = Output::array(), outputs = Output::array({tensor_description(job.output.name, "BYTES")});
  for (const JobSide& input : job.inputs) inputs.push_back(tensor_description(input.name, "BYTES"));
  if (job.chooses()) outputs.push_back(tensor_description(kProbability, "FP32"));
  Output parameters{{"job", job.name}};
  add_notes(parameters, model);
  return json_answer(Output{{"name", model.name()},
                            {"versions", {"1"}},
                            {"platform", "heed_" + model.bundle().system->name},
                            {"inputs", std::move(inputs)},
                            {"outputs", std::move(outputs)},
                            {"parameters", std::move(parameters)}});
}

HttpResponse model_ready_answer(const ServedModel& model) {
  return json_answer(Output{{"name", model.name()}, {"ready", true}});
}

}  // namespace heed
