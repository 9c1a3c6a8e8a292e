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
// with one set of options, so that any of it can do all of it. It keeps its model, whatever becomes of the shelf.
class Work : public BatchItem {
 public:
  using Model = ModelShelf::Model;
  // `kind` says what else must be the same beside the model.
  Work(Model model, const std::string& kind, bool is_long, std::shared_ptr<HttpReply> reply)
      : model_(std::move(model)),
        kind_(fmt::format("{} {}", fmt::ptr(model_.get()), kind)),
        is_long_(is_long),
        reply_(std::move(reply)) {}
  const std::string& kind() const override { return kind_; }
  bool is_long() const override { return is_long_; }
  bool wanted() const override { return !reply_->gone(); }
  HttpReply& reply() const { return *reply_; }

  // Answers every request of the batch. What it throws has answered none of them, but for events of those that stream.
  virtual WorkCount run(const std::vector<Work*>& together) const = 0;

 protected:
  ServedModel& model() const { return *model_; }

 private:
  Model model_;
  std::string kind_;
  bool is_long_;
  std::shared_ptr<HttpReply> reply_;
};

struct WorkOptions {
  Index batch_sentences = 64;
  Index longest_input = 500;    // pieces of a text; more is refused
  Index longest_trusted = 100;  // pieces of an input or output whose trust is measured: it is read again for each
  Index most_weights = Index{1} << 21;  // of the attentions of an answer; more is refused
  Index short_pieces = 256;             // about so many pieces to read make a request a long one
};

// The answer of KServe v2.
std::shared_ptr<Work> infer_work(const Work::Model& model, const InferRequest& request, const RequestLimits& limits,
                                 const WorkOptions& options, std::shared_ptr<HttpReply> reply);
// {"outputs": [...]}, the answer at the path of a job's verb.
std::shared_ptr<Work> verb_work(const Work::Model& model, VerbRequest request, const RequestLimits& limits,
                                const WorkOptions& options, std::shared_ptr<HttpReply> reply);
// A trace, or the events that lead to it.
std::shared_ptr<Work> explain_work(const Work::Model& model, ExplainRequest request, const RequestLimits& limits,
                                   const WorkOptions& options, std::shared_ptr<HttpReply> reply);

// An HttpError, which nobody will read, if all clients of a batch are gone: the work ends in the middle.
void check_wanted(const std::vector<Work*>& together);
// Words between white space.
Index count_words(std::string_view text);
// Words of the texts of a sample.
Index count_words(const Job& job, const SentSample& sample);
// About how many pieces, frames or regions a model will read of it, before anything is decoded.
Index estimated_pieces(const Job& job, const SentSample& sample);

}  // namespace heed
