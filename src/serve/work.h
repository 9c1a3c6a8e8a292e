#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/serve/batcher.h"
#include "heed/serve/http.h"
#include "heed/serve/model_shelf.h"
#include "heed/serve/request.h"
#include "heed/serve/tensors.h"

namespace heed {

// What a batch of work read and wrote.
struct WorkCount {
  Index sentences = 0, words = 0;
};

// One request that a model answers, on its way through the batcher. Work of one kind is of one class, for one model
// with one set of options, so that any of it can do all of it.
class Work : public BatchItem {
 public:
  Work(std::string kind, std::shared_ptr<HttpReply> reply) : kind_(std::move(kind)), reply_(std::move(reply)) {}
  const std::string& kind() const override { return kind_; }
  bool wanted() const override { return !reply_->gone(); }
  HttpReply& reply() const { return *reply_; }

  // Answers every request of the batch. What it throws has answered none of them, but for events of those that stream.
  virtual WorkCount run(const std::vector<Work*>& together) const = 0;

 private:
  std::string kind_;
  std::shared_ptr<HttpReply> reply_;
};

struct WorkOptions {
  Index batch_sentences = 64;
  Index longest_input = 500;    // pieces, frames or regions; more is refused
  Index longest_trusted = 100;  // pieces of an input or output whose trust is measured: it is read again for each
};

// The answer of KServe v2.
std::shared_ptr<Work> infer_work(ServedModel& model, const InferRequest& request, const RequestLimits& limits,
                                 const WorkOptions& options, std::shared_ptr<HttpReply> reply);
// {"outputs": [...]}, the answer at the path of a job's verb.
std::shared_ptr<Work> verb_work(ServedModel& model, VerbRequest request, const RequestLimits& limits,
                                const WorkOptions& options, std::shared_ptr<HttpReply> reply);
// A trace, or the events that lead to it.
std::shared_ptr<Work> explain_work(ServedModel& model, ExplainRequest request, const RequestLimits& limits,
                                   const WorkOptions& options, std::shared_ptr<HttpReply> reply);

// An HttpError, which nobody will read, if all clients of a batch are gone: the work ends in the middle.
void check_wanted(const std::vector<Work*>& together);
// Words between white space.
Index count_words(std::string_view text);
// Words of the texts of a sample.
Index count_words(const Job& job, const SentSample& sample);

}  // namespace heed
