#include "heed/serve/libre_translate.h"

#include <algorithm>
#include <map>
#include <set>

#include "heed/serve/adapter.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/run_work.h"

namespace heed {

TranslateRequest translate_request(const HttpRequest& request, const RequestLimits& limits) {
  const auto [object, form] = read_object_or_form(request);
  const Members members(object, form);
  TranslateRequest result;
  members.read("model", result.model);
  members.read("source", result.source);
  members.read("target", result.target);
  members.read("alternatives", result.alternatives, 0, limits.alternatives);
  std::string format = "text";
  members.read("format", format);
  if (format != "text") refuse(400, "format must be text; others are not translated");
  const nlohmann::json* q = members.find("q");
  if (q == nullptr) refuse(400, "q is missing: the text to translate, or a list of texts");
  result.list = q->is_array();
  if (result.list) {
    for (const nlohmann::json& item : *q) result.texts.push_back(text_in("q", item));
  } else {
    if (!q->is_string()) refuse(400, "q must be a text or a list of texts, not {}", Members::kind(*q));
    result.texts.push_back(q->get<std::string>());
  }
  if (static_cast<Index>(result.texts.size()) > limits.texts)
    refuse(422, "q has {} texts; at most {} are allowed", result.texts.size(), limits.texts);
  for (const std::string& text : result.texts) check_text("q", text, limits);
  return result;
}

namespace {

using Output = nlohmann::ordered_json;

constexpr const char* kJob = "translation";

class TranslateWork final : public RunWork {
 public:
  TranslateWork(const Model& model, const TranslateRequest& request, TextLines lines, const WorkOptions& options,
                std::shared_ptr<HttpReply> reply)
      : RunWork(model, lines.samples(), request.alternatives + 1, options, std::move(reply)),
        lines_(std::move(lines)),
        list_(request.list),
        alternatives_(request.alternatives) {
    if (request.source == "auto" && !model->languages().empty()) detected_ = model->languages().front();
  }

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    Output best = Output::array(), others = Output::array(), detected = Output::array();
    for (const std::vector<std::string>& text : lines_.join(results, alternatives_ + 1)) {
      best.push_back(text.front());
      others.push_back(Output(std::vector<std::string>(text.begin() + 1, text.end())));
      detected.push_back(Output{{"confidence", 100}, {"language", detected_}});  // the model's: there is no other
    }
    Output result{{"translatedText", list_ ? best : best.front()}};
    if (alternatives_ > 0) result["alternatives"] = list_ ? others : others.front();
    if (!detected_.empty()) result["detectedLanguage"] = list_ ? detected : detected.front();
    return json_answer(result);
  }

 private:
  TextLines lines_;
  bool list_;
  Index alternatives_;
  std::string detected_;
};

// The first model between the languages; "auto" and nothing stand for any.
Work::Model model_between(const std::vector<Work::Model>& models, const std::string& source,
                          const std::string& target) {
  const std::string from = source == "auto" ? "" : source;
  if (from.empty() && target.empty()) return models.front();
  bool reads = from.empty(), writes = target.empty();
  for (const Work::Model& model : models) {
    if (model->languages().empty()) continue;
    const bool same_source = from.empty() || from == model->languages().front();
    const bool same_target = target.empty() || target == model->languages().back();
    if (same_source && same_target) return model;
    reads = reads || same_source;
    writes = writes || same_target;
  }
  if (!reads) refuse(400, "{} is not supported", shown(from));
  if (!writes) refuse(400, "{} is not supported", shown(target));
  refuse(400, "{} is not available as a target language from {}", shown(target), shown(from));
}

std::shared_ptr<Work> translate(const AdapterCall& call) {
  const TranslateRequest request = translate_request(call.request, call.limits);
  Work::Model model = call.models.named_of_job(call.job, request.model);
  if (request.model.empty()) model = model_between(call.models.of_job(call.job), request.source, request.target);
  return std::make_shared<TranslateWork>(model, request, TextLines("q", request.texts, call.limits), call.options,
                                         call.reply);
}

// Languages, and what each is translated to.
std::shared_ptr<Work> list_languages(const AdapterCall& call) {
  std::map<std::string, std::set<std::string>> targets;
  for (const Work::Model& model : call.models.of_job(call.job))
    if (!model->languages().empty()) targets[model->languages().front()].insert(model->languages().back());
  Output list = Output::array();
  for (const auto& [source, to] : targets) list.push_back(Output{{"code", source}, {"name", source}, {"targets", to}});
  call.reply->send(json_answer(list));
  return nullptr;
}

std::shared_ptr<Work> detect(const AdapterCall&) {
  refuse(501, "this server does not detect languages; GET /languages lists those of its models");
}

const RegisterAdapter translate_path{{kJob, "POST", "/translate", translate, "api_key"}};
const RegisterAdapter languages_path{{kJob, "GET", "/languages", list_languages}};
const RegisterAdapter detect_path{{kJob, "POST", "/detect", detect, "api_key"}};

}  // namespace
}  // namespace heed
