#include "heed/serve/body-inl.h"
#include "heed/serve/work.h"
#include "heed/trace/trace_json.h"

namespace heed {
namespace {

using Output = nlohmann::ordered_json;

// A weight with the digits that the trace has.
double shortened(Real weight) {
  std::string digits;
  write_weight(digits, weight, kBriefWeights);
  return std::stod(digits);
}

std::string kind_of(const ExplainRequest& request) {
  return fmt::format("explain {} beam {} attentions {} {} alternatives {} trust {} stream {} given {}",
                     request.normaliser, request.beam, request.attentions, fmt::join(request.attention_names, " "),
                     request.alternatives, request.trust, request.stream, request.target.has_value());
}

// Trust is measured by reading the input again for each of its pieces, and several times for each of the output's.
bool takes_long(const Job& job, const ExplainRequest& request, const SentSample& sent, const WorkOptions& options) {
  const Index pieces = estimated_pieces(job, sent);
  return (request.trust ? pieces * pieces : pieces) > options.short_pieces;
}

class ExplainWork final : public Work {
 public:
  ExplainWork(const Model& model, ExplainRequest request, SentSample sent, const WorkOptions& options,
              std::shared_ptr<HttpReply> reply)
      : Work(model, kind_of(request), takes_long(*model->bundle().job, request, sent, options), std::move(reply)),
        request_(std::move(request)),
        sent_(std::move(sent)),
        options_(options) {}
  Index sentences() const override { return 1; }
  WorkCount run(const std::vector<Work*>& together) const override;

 private:
  using Works = std::vector<const ExplainWork*>;
  ExplainOptions explain_options(const std::vector<Work*>& together) const;
  // Has every client told of its tokens as greedy search gives them.
  void tell_tokens(ExplainOptions& options, const Works& works, bool draft, const Runner& runner) const;

  // What a streaming client has been told already is not repeated if its batch is run again.
  void tell_source(const Runner& runner) const;
  void tell_token(const WrittenToken& token, bool draft) const;
  void tell_trace(const Trace& trace) const;

  ExplainRequest request_;
  SentSample sent_;
  WorkOptions options_;
  mutable Index told_ = -1;  // tokens; -1: not even the source
};

// Only of a text: what else was read, the client has at hand.
void ExplainWork::tell_source(const Runner& runner) const {
  if (told_ >= 0) return;
  told_ = 0;
  if (is_text(runner.job().inputs.front().kind))
    reply().event("source", to_json(runner.read_input(0, {.text = sent_.front().bytes}).text));
}

void ExplainWork::tell_token(const WrittenToken& token, bool draft) const {
  if (token.step < told_) return;
  told_ = token.step + 1;
  Output weights = Output::array();
  for (const Real weight : token.weights) weights.push_back(shortened(weight));
  reply().event("token", one_line(Output{{"step", token.step},
                                         {"token", token.token.text},
                                         {"text", token.text},
                                         {"weights", std::move(weights)},
                                         {"log_probability", token.log_probability},
                                         {"draft", draft}}));
}

void ExplainWork::tell_trace(const Trace& trace) const {
  const std::string json = to_json(trace, kBriefWeights);
  if (!request_.stream) return reply().send({200, json + "\n"});
  reply().event("trace", json);
  reply().end();
}

ExplainOptions ExplainWork::explain_options(const std::vector<Work*>& together) const {
  ExplainOptions options;
  options.run.limits = {options_.longest_input, TooLong::refuse};
  options.run.search.batch.samples = options_.batch_sentences;
  options.run.search.options.beam = request_.beam;
  options.run.search.method = request_.beam == 1 ? SearchMethod::greedy : SearchMethod::beam;
  options.run.on_step = [&together] { check_wanted(together); };
  options.longest_trusted = options_.longest_trusted;
  return options;
}

void ExplainWork::tell_tokens(ExplainOptions& options, const Works& works, bool draft, const Runner& runner) const {
  options.run.search.method = SearchMethod::greedy;
  options.run.on_token = [&works, &runner, draft](const WrittenToken& token) {
    const ExplainWork& work = *works[static_cast<std::size_t>(token.sample)];
    work.tell_source(runner);
    work.tell_token(token, draft);
  };
}

WorkCount ExplainWork::run(const std::vector<Work*>& together) const {
  const std::shared_ptr<Runner> kept = model().variant(request_.normaliser);
  Runner& runner = *kept;
  const Job& job = runner.job();
  WorkCount count;
  Works works;
  std::vector<Sample> samples;
  for (const Work* each : together) {
    works.push_back(static_cast<const ExplainWork*>(each));
    const ExplainWork& work = *works.back();
    samples.push_back(decoded_sample(job, work.sent_));
    if (work.request_.target) samples.back().outputs.push_back(*work.request_.target);
    count.sentences += 1;
    count.words += count_words(job, work.sent_);
  }
  const bool writes = !job.chooses(), streams = writes && request_.stream && !request_.target;
  ExplainOptions options = explain_options(together);
  if (streams && request_.beam > 1) {
    ExplainOptions draft = options;
    tell_tokens(draft, works, true, runner);
    runner.explain(samples, draft);
  }
  if (streams && request_.beam == 1) tell_tokens(options, works, false, runner);
  options.attentions = request_.attentions;
  options.attention_names = request_.attention_names;
  options.most_weights = options_.most_weights;
  options.beam = request_.alternatives;
  options.trust = request_.trust;
  const std::vector<Trace> traces = runner.explain(samples, options);
  for (std::size_t i = 0; i < works.size(); ++i) {
    count.words += count_words(traces[i].output().text.text);
    if (writes && request_.stream) works[i]->tell_source(runner);
    works[i]->tell_trace(traces[i]);
  }
  return count;
}

}  // namespace

std::shared_ptr<Work> explain_work(const Work::Model& model, ExplainRequest request, const RequestLimits& limits,
                                   const WorkOptions& options, std::shared_ptr<HttpReply> reply) {
  std::vector<SentSample> samples = sent_samples(*model->bundle().job, std::move(request.inputs), limits);
  add_choices(*model->bundle().job, std::move(request.choices), limits, samples.front());
  return std::make_shared<ExplainWork>(model, std::move(request), std::move(samples.front()), options,
                                       std::move(reply));
}

}  // namespace heed
