#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/threads.h"
#include "heed/jobs/explain.h"
#include "heed/jobs/faithfulness.h"
#include "heed/trace/trace_json.h"
#include "heed/serve/job.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A weight with the digits that a trace has.
double shortened(Real weight) { return std::stod(fmt::format("{:.5g}", weight)); }

constexpr std::size_t kLeastShare = 8;  // sentences

// Measuring trust reads the sentence again for each of its tokens, several times.
constexpr std::size_t kLongestTrusted = 100;

void add_trust(const TranslationBundle& bundle, Trace& trace) {
  if (std::max(trace.row_axis().size(), trace.column_axis().size()) > static_cast<Index>(kLongestTrusted))
    refuse(422, "trust is measured of sentences of at most {} pieces", kLongestTrusted);
  trace.trust = {measure_trust(bundle, trace)};
}

std::string kind_of(const ServedModel& model, const ExplainRequest& request) {
  return fmt::format("explain {} {} beam {} attentions {} alternatives {} trust {} stream {} given {}", model.name(),
                     request.normaliser, request.beam, request.attentions, request.alternatives, request.trust,
                     request.stream, request.target.has_value());
}

class ExplainJob final : public ServiceJob {
 public:
  ExplainJob(ServedModel& model, ExplainRequest request, const JobOptions& options, std::shared_ptr<HttpReply> reply)
      : ServiceJob(kind_of(model, request), std::move(reply)),
        model_(model),
        request_(std::move(request)),
        options_(options) {}
  Index sentences() const override { return 1; }
  JobCount run(const std::vector<ServiceJob*>& together) const override;

 private:
  // What a streaming client has been told already is not repeated if its batch is run again.
  void tell_source(const Explainer& explainer) const;
  void tell_token(const ExplainedToken& token) const;
  void tell_trace(const Trace& trace) const;

  ServedModel& model_;
  ExplainRequest request_;
  JobOptions options_;
  mutable Index told_ = -1;  // tokens; -1: not even the source
};

void ExplainJob::tell_source(const Explainer& explainer) const {
  if (told_ >= 0) return;
  told_ = 0;
  reply().event("source", to_json(explainer.read_source(request_.text)));
}

void ExplainJob::tell_token(const ExplainedToken& token) const {
  if (token.step < told_) return;
  told_ = token.step + 1;
  Json weights = Json::array();
  for (const Real weight : token.weights) weights.push_back(shortened(weight));
  reply().event("token", one_line(Json{{"step", token.step},
                                       {"token", token.token.text},
                                       {"text", token.text},
                                       {"weights", std::move(weights)},
                                       {"log_probability", token.log_probability}}));
}

void ExplainJob::tell_trace(const Trace& trace) const {
  const std::string json = to_json(trace);
  if (!request_.stream) return reply().send({200, json + "\n"});
  reply().event("trace", json);
  reply().end();
}

JobCount ExplainJob::run(const std::vector<ServiceJob*>& together) const {
  const std::shared_ptr<const TranslationBundle> bundle = model_.variant(request_.normaliser);
  const Explainer explainer(bundle, model_.name());
  std::vector<const ExplainJob*> jobs;
  std::vector<std::string> sources, targets;
  for (const ServiceJob* each : together) {
    jobs.push_back(static_cast<const ExplainJob*>(each));
    sources.push_back(jobs.back()->request_.text);
    check_pieces(*bundle, sources.back(), options_);
    if (request_.target) targets.push_back(*jobs.back()->request_.target);
  }
  ExplainOptions options;
  options.attentions = request_.attentions;
  options.beam = request_.alternatives;
  options.search.batch_sentences = options_.batch_sentences;
  options.search.options.beam = request_.beam;
  const bool greedy = request_.stream || request_.beam == 1;
  options.search.method = greedy ? SearchMethod::greedy : SearchMethod::beam;
  if (request_.stream)
    for (const ExplainJob* job : jobs) job->tell_source(explainer);
  // A share for each thread, unless it is so small that the threads do better inside the ops.
  const std::size_t shares =
      std::clamp<std::size_t>(jobs.size() / kLeastShare, 1, static_cast<std::size_t>(thread_count()));
  ThreadPool threads(static_cast<int>(shares));
  std::vector<Trace> traces(jobs.size());
  for_each_batch(threads, shares, [&](std::size_t share) {
    const std::size_t first = jobs.size() * share / shares, count = jobs.size() * (share + 1) / shares - first;
    ExplainOptions own = options;
    if (request_.stream)
      own.on_token = [&, first](const ExplainedToken& token) {
        check_wanted(together);
        jobs[first + static_cast<std::size_t>(token.sentence)]->tell_token(token);
      };
    const std::span<const std::string> read = std::span(sources).subspan(first, count);
    std::vector<Trace> some = request_.target
                                  ? explainer.explain_given(read, std::span(targets).subspan(first, count), own)
                                  : explainer.explain(read, own);
    std::move(some.begin(), some.end(), traces.begin() + static_cast<std::ptrdiff_t>(first));
  });
  if (request_.trust)
    for (Trace& trace : traces) add_trust(*bundle, trace);
  JobCount count;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    count.sentences += 1;
    count.words += count_words(sources[i]) + count_words(traces[i].output().text.text);
    jobs[i]->tell_trace(traces[i]);
  }
  return count;
}

}  // namespace

std::shared_ptr<ServiceJob> explain_job(ServedModel& model, ExplainRequest request, const JobOptions& options,
                                        std::shared_ptr<HttpReply> reply) {
  return std::make_shared<ExplainJob>(model, std::move(request), options, std::move(reply));
}

}  // namespace heed
