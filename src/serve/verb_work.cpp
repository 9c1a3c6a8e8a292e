#include "heed/serve/body-inl.h"
#include "heed/serve/label_scores-inl.h"
#include "heed/serve/run_work.h"

namespace heed {
namespace {

using Output = nlohmann::ordered_json;

class VerbWork final : public RunWork {
 public:
  using RunWork::RunWork;

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    Output outputs = Output::array();
    for (const std::vector<Result>& result : results) {
      outputs.push_back(Output{{"text", result.front().text},
                               {"score", result.front().score},
                               {"log_probability", result.front().log_probability}});
      if (model().bundle().job->gives_label()) outputs.back()["scores"] = label_scores(result);
    }
    return json_answer(Output{{"outputs", std::move(outputs)}});
  }
};

}  // namespace

std::shared_ptr<Work> verb_work(const Work::Model& model, VerbRequest request, const RequestLimits& limits,
                                const WorkOptions& options, std::shared_ptr<HttpReply> reply) {
  std::vector<SentSample> samples = sent_samples(*model->bundle().job, std::move(request.inputs), limits);
  const std::size_t labels = model->bundle().codes.labels.size();
  return std::make_shared<VerbWork>(model, std::move(samples), std::max<Index>(static_cast<Index>(labels), 1), options,
                                    std::move(reply));
}

}  // namespace heed
