#include <algorithm>

#include "heed/base/white_space.h"
#include "heed/serve/adapter.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/label_scores-inl.h"
#include "heed/serve/run_work.h"

// What text-embeddings-inference's clients of a classifier send and expect, which is also the shape of Hugging Face's
// text classification:
//   POST /predict {"inputs": "text"} or {"inputs": ["text"]}              [{"score", "label"}, ...], falling
//                 {"inputs": ["premise", "hypothesis"]}                   the same of one pair
//                 {"inputs": [["text"], ["premise", "hypothesis"]]}       a list of these
// A single text goes to the first model that reads one text and gives a label, a pair to the first that reads two.

namespace heed {
namespace {

using Json = nlohmann::json;

struct PredictRequest {
  std::string model;
  std::vector<SentSample> samples;
  bool list = false;  // several were sent: the answer is a list of answers
};

SentSample sample_in(const Json& item, const RequestLimits& limits) {
  SentSample sample;
  if (item.is_string()) {
    sample.push_back({item.get<std::string>(), false});
  } else {
    for (const Json& text : item) sample.push_back({text_in("inputs", text), false});
  }
  if (sample.empty()) refuse(400, "inputs has an empty list; a text or a pair of texts is expected");
  if (sample.size() > 2) refuse(400, "inputs has {} texts together; one or a pair is expected", sample.size());
  for (const SentValue& text : sample) {
    check_text("inputs", text.bytes, limits);
    if (is_blank(text.bytes)) refuse(400, "inputs has an empty text");
  }
  return sample;
}

PredictRequest predict_request(const HttpRequest& request, const RequestLimits& limits) {
  const Json json = read_json(request.body);
  const Members members(json);
  PredictRequest result;
  members.read("model", result.model);
  const Json* inputs = members.find("inputs");
  if (inputs == nullptr) refuse(400, "inputs is missing: a text, a pair of texts or a list of these");
  if (!inputs->is_string() && !inputs->is_array())
    refuse(400, "inputs must be a text or a list, not {}", Members::kind(*inputs));
  result.list = inputs->is_array() && !inputs->empty() && inputs->front().is_array();
  if (!result.list) {
    result.samples.push_back(sample_in(*inputs, limits));
    return result;
  }
  if (static_cast<Index>(inputs->size()) > limits.texts)
    refuse(422, "inputs has {} samples; at most {} are allowed", inputs->size(), limits.texts);
  for (const Json& item : *inputs) {
    if (!item.is_array()) refuse(400, "inputs must hold lists of texts, not {}", Members::kind(item));
    result.samples.push_back(sample_in(item, limits));
    if (result.samples.back().size() != result.samples.front().size())
      refuse(400, "inputs has single texts beside pairs; one model reads one kind of them");
  }
  return result;
}

bool reads(const ServedModel& model, std::size_t texts) {
  const Job& job = *model.bundle().job;
  return job.gives_label() && job.inputs.size() == texts &&
         std::all_of(job.inputs.begin(), job.inputs.end(), [](const JobSide& side) { return is_text(side.kind); });
}

Work::Model model_for(const ModelShelf& models, const PredictRequest& request) {
  const std::size_t texts = request.samples.front().size();
  if (!request.model.empty()) {
    Work::Model model = models.named(request.model);
    if (!reads(*model, texts))
      refuse(400, "{} does not choose a label for {}", shown(request.model), texts == 1 ? "one text" : "two texts");
    return model;
  }
  for (const auto& model : models.models())
    if (reads(*model, texts)) return model;
  refuse(404, "there is no model that chooses a label for {}", texts == 1 ? "one text" : "two texts");
}

class PredictWork final : public RunWork {
 public:
  PredictWork(const Model& model, PredictRequest request, const WorkOptions& options, std::shared_ptr<HttpReply> reply)
      : RunWork(model, std::move(request.samples), static_cast<Index>(model->bundle().codes.labels.size()), options,
                std::move(reply)),
        list_(request.list) {}

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const std::vector<Result>& result : results) all.push_back(label_scores(result));
    return json_answer(list_ ? all : all.front());
  }

 private:
  bool list_;
};

std::shared_ptr<Work> predict(const AdapterCall& call) {
  PredictRequest request = predict_request(call.request, call.limits);
  const Work::Model model = model_for(call.models, request);
  return std::make_shared<PredictWork>(model, std::move(request), call.options, call.reply);
}

const RegisterAdapter predict_path{{"classification", "POST", "/predict", predict}};

}  // namespace
}  // namespace heed
