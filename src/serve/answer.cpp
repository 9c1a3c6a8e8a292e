#include "heed/base/white_space.h"
#include "heed/serve/adapter.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/run_work.h"

// What Hugging Face's clients of question answering send and expect:
//   POST /answer {"inputs": {"question", "context"}, "parameters": {"top_k"}}    {"answer", "score", "start", "end"}
//                {"inputs": [{"question", "context"}, ...]}                      a list of these
//                {"question", "context"}                                         the same of one question
// With a top_k above 1 each answer is a list, falling. `document` may stand for `context`, and `choices` beside a
// question are what can be answered. Start and end count characters of the context; they are null of a choice that does
// not occur there.

namespace heed {
namespace {

using Json = nlohmann::json;

struct AnswerRequest {
  std::string model;
  std::vector<SentSample> samples;
  Index best = 1;
  bool list = false;  // several were sent: the answer is a list of answers
};

SentSample question_in(const Json& item, const Job& job, const RequestLimits& limits) {
  if (!item.is_object()) refuse(400, "inputs must hold objects of question and context, not {}", Members::kind(item));
  const Members members(item);
  std::string document, question;
  members.read(members.find("context") != nullptr ? "context" : "document", document);
  members.read("question", question);
  SentSample sample = std::move(
      sent_samples(job, {{job.inputs[0].name, {{document, false}}}, {job.inputs[1].name, {{question, false}}}}, limits)
          .front());
  if (is_blank(document)) refuse(422, "context is empty: nothing to answer from");
  add_choices(job, texts_in("choices", members), limits, sample);
  return sample;
}

AnswerRequest answer_request(const AdapterCall& call) {
  const Json json = read_json(call.request.body);
  const Members members(json);
  AnswerRequest result;
  members.read("model", result.model);
  members.read("top_k", result.best, 1, call.limits.texts);
  if (const Json* parameters = members.find("parameters"); parameters != nullptr && parameters->is_object())
    Members(*parameters).read("top_k", result.best, 1, call.limits.texts);
  const Json* inputs = members.find("inputs");
  const Json& asked = inputs != nullptr ? *inputs : json;
  result.list = asked.is_array();
  if (!result.list) {
    result.samples.push_back(question_in(asked, call.job, call.limits));
    return result;
  }
  if (asked.empty()) refuse(400, "inputs is an empty list");
  if (static_cast<Index>(asked.size()) > call.limits.texts)
    refuse(422, "inputs has {} questions; at most {} are allowed", asked.size(), call.limits.texts);
  for (const Json& item : asked) result.samples.push_back(question_in(item, call.job, call.limits));
  return result;
}

class AnswerWork final : public RunWork {
 public:
  AnswerWork(const Model& model, AnswerRequest request, const WorkOptions& options, std::shared_ptr<HttpReply> reply)
      : RunWork(model, std::move(request.samples), request.best, options, std::move(reply)),
        list_(request.list),
        ranks_(request.best > 1) {}

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    using Output = nlohmann::ordered_json;
    Output all = Output::array();
    for (const std::vector<Result>& result : results) {
      Output ranked = Output::array();
      for (const Result& each : result) {
        Output one{{"answer", each.text}, {"score", each.score}, {"start", nullptr}, {"end", nullptr}};
        if (each.begin >= 0) one["start"] = each.begin, one["end"] = each.end;
        ranked.push_back(std::move(one));
      }
      all.push_back(ranks_ ? std::move(ranked) : std::move(ranked.front()));
    }
    return json_answer(list_ ? all : all.front());
  }

 private:
  bool list_, ranks_;
};

std::shared_ptr<Work> answer(const AdapterCall& call) {
  AnswerRequest request = answer_request(call);
  const Work::Model model = call.models.named_of_job(call.job, request.model);
  return std::make_shared<AnswerWork>(model, std::move(request), call.options, call.reply);
}

const RegisterAdapter answer_path{{"reading", "POST", "/answer", answer}};

}  // namespace
}  // namespace heed
