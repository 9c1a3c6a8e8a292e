#include "heed/base/white_space.h"
#include "heed/serve/adapter.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/run_work.h"

// What Hugging Face's clients of a summariser send and expect:
//   POST /summarization {"inputs": "text"} or {"inputs": ["text", ...]}     [{"summary_text": "..."}, ...]
// "parameters" may have max_length and min_length, here in words, and no_repeat_ngram_size; others are not looked at.
// "model" names one of several; else the first that summarises is asked.

namespace heed {
namespace {

using Json = nlohmann::json;

std::vector<SentSample> samples_in(const Members& members, const RequestLimits& limits) {
  const Json* inputs = members.find("inputs");
  if (inputs == nullptr) refuse(400, "inputs is missing: a text or a list of texts");
  if (!inputs->is_string() && !inputs->is_array())
    refuse(400, "inputs must be a text or a list of texts, not {}", Members::kind(*inputs));
  std::vector<std::string> texts;
  if (inputs->is_string())
    texts.push_back(inputs->get<std::string>());
  else
    for (const Json& item : *inputs) texts.push_back(text_in("inputs", item));
  if (texts.empty()) refuse(400, "inputs has no text");
  if (static_cast<Index>(texts.size()) > limits.texts)
    refuse(422, "inputs has {} texts; at most {} are allowed", texts.size(), limits.texts);
  std::vector<SentSample> samples;
  for (std::string& text : texts) {
    check_text("inputs", text, limits);
    if (is_blank(text)) refuse(400, "inputs has an empty text");
    samples.push_back({{std::move(text), false}});
  }
  return samples;
}

WritingOptions options_in(const Members& members) {
  constexpr Index kMost = 10'000;
  WritingOptions options;
  const Json* parameters = members.find("parameters");
  if (parameters == nullptr) return options;
  if (!parameters->is_object()) refuse(400, "parameters must be an object, not {}", Members::kind(*parameters));
  const Members given(*parameters);
  given.read("max_length", options.limits.most_words, 1, kMost);
  given.read("min_length", options.limits.least_words, 0, kMost);
  given.read("no_repeat_ngram_size", options.no_repeat, 0, kMost);
  if (options.limits.most_words > 0 && options.limits.least_words > options.limits.most_words)
    refuse(400, "min_length {} is more than max_length {}", options.limits.least_words, options.limits.most_words);
  return options;
}

class SummaryWork final : public RunWork {
 public:
  using RunWork::RunWork;

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    Json list = Json::array();
    for (const std::vector<Result>& result : results) list.push_back({{"summary_text", result.front().text}});
    return json_answer(list);
  }
};

std::shared_ptr<Work> summarise(const AdapterCall& call) {
  const Json json = read_json(call.request.body);
  const Members members(json);
  std::string name;
  members.read("model", name);
  std::vector<SentSample> samples = samples_in(members, call.limits);
  const WritingOptions writing = options_in(members);
  return std::make_shared<SummaryWork>(call.models.named_of_job(call.job, name), std::move(samples), Index{1},
                                       call.options, call.reply, writing);
}

const RegisterAdapter summarization_path{{"summarisation", "POST", "/summarization", summarise}};

}  // namespace
}  // namespace heed
