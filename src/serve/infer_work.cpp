#include "heed/base/base64.h"
#include "heed/serve/run_work.h"

namespace heed {
namespace {

// Clients of the time when there was one job know its tensors by these names, and send texts of several lines.
constexpr const char *kOlderInput = "text", *kOlderOutput = "translation";

bool is_older(const Job& job, const SentTensor& tensor) {
  return job.is_default && tensor.name == kOlderInput && job.inputs.front().name != kOlderInput;
}

// Of images and sounds JSON has base64, binary tensors the bytes themselves.
SentInput input_of(const Job& job, const SentTensor& tensor) {
  SentInput input{tensor.name, {}};
  const JobSide* side = input_named(job, tensor.name);
  const bool is_file = side != nullptr && !is_text(side->kind);
  for (const std::string& element : tensor.elements) {
    SentValue& value = input.values.emplace_back(SentValue{element, is_file});
    if (!is_file || tensor.binary) continue;
    std::optional<std::string> bytes = from_base64(element);
    if (!bytes) refuse(400, "the data of {} is not valid base64", side->name);
    value.bytes = std::move(*bytes);
  }
  return input;
}

struct Asked {
  std::string id;
  std::vector<Index> shape;
  std::vector<InferRequest::Output> outputs;
};

class InferWork : public RunWork {
 public:
  InferWork(const Model& model, std::vector<SentSample> samples, Asked asked, const WorkOptions& options,
            std::shared_ptr<HttpReply> reply)
      : RunWork(model, std::move(samples), 1, options, std::move(reply)), asked_(std::move(asked)) {}

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    const Job& job = *model().bundle().job;
    GivenTensor texts{job.output.name, asked_.shape}, probabilities{kProbability, asked_.shape};
    probabilities.is_numbers = true;
    for (const std::vector<Result>& result : results) {
      texts.texts.push_back(result.front().text);
      probabilities.numbers.push_back(static_cast<float>(result.front().score));
    }
    return infer_answer(model().name(), asked_.id, {std::move(texts), std::move(probabilities)}, asked_.outputs);
  }
  const Asked& asked() const { return asked_; }

 private:
  Asked asked_;
};

class OlderInferWork final : public InferWork {
 public:
  OlderInferWork(const Model& model, TextLines lines, Asked asked, const WorkOptions& options,
                 std::shared_ptr<HttpReply> reply)
      : InferWork(model, lines.samples(), std::move(asked), options, std::move(reply)), lines_(std::move(lines)) {}

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    GivenTensor texts{kOlderOutput, asked().shape};
    for (std::vector<std::string>& text : lines_.join(results, 1)) texts.texts.push_back(std::move(text.front()));
    return infer_answer(model().name(), asked().id, {std::move(texts)}, asked().outputs);
  }

 private:
  TextLines lines_;
};

}  // namespace

std::shared_ptr<Work> infer_work(const Work::Model& model, const InferRequest& request, const RequestLimits& limits,
                                 const WorkOptions& options, std::shared_ptr<HttpReply> reply) {
  const Job& job = *model->bundle().job;
  std::vector<SentInput> inputs;
  for (SentTensor tensor : request.inputs) {
    if (tensor.name.empty()) {
      if (job.inputs.size() != 1) refuse(400, "{} reads {} inputs; name them", job.name, job.inputs.size());
      tensor.name = job.inputs.front().name;
    }
    inputs.push_back(input_of(job, tensor));
  }
  std::vector<SentSample> samples = sent_samples(job, std::move(inputs), limits);
  const SentTensor& first = request.inputs.front();
  if (is_older(job, first))
    return std::make_shared<OlderInferWork>(model, TextLines(kOlderInput, first.elements, limits),
                                            Asked{request.id, first.shape, asked_outputs(request, {kOlderOutput})},
                                            options, std::move(reply));
  std::vector<std::string> names{job.output.name};
  if (job.chooses()) names.emplace_back(kProbability);
  return std::make_shared<InferWork>(model, std::move(samples),
                                     Asked{request.id, first.shape, asked_outputs(request, names)}, options,
                                     std::move(reply));
}

}  // namespace heed
