#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/serve/batcher.h"
#include "heed/serve/http.h"
#include "heed/serve/model_shelf.h"
#include "heed/serve/request.h"

namespace heed {

// What a batch of jobs read and wrote.
struct JobCount {
  Index sentences = 0, words = 0;
};

// One request that a model answers, on its way through the batcher. Jobs of one kind are of one class, for one model
// with one set of options, so that any of them can run them all.
class ServiceJob : public BatchItem {
 public:
  ServiceJob(std::string kind, std::shared_ptr<HttpReply> reply) : kind_(std::move(kind)), reply_(std::move(reply)) {}
  const std::string& kind() const override { return kind_; }
  bool wanted() const override { return !reply_->gone(); }
  HttpReply& reply() const { return *reply_; }

  // Answers every job of the batch. What it throws has answered none of them, but for events of those that stream.
  virtual JobCount run(const std::vector<ServiceJob*>& together) const = 0;

 private:
  std::string kind_;
  std::shared_ptr<HttpReply> reply_;
};

struct JobOptions {
  Index batch_sentences = 64;
  Index longest_sentence = 500;  // pieces of one line; more is refused
};

// The answer of LibreTranslate. Each line of a text is translated by itself.
std::shared_ptr<ServiceJob> translate_job(ServedModel& model, const TranslateRequest& request,
                                          const JobOptions& options, std::shared_ptr<HttpReply> reply);
// The answer of KServe v2.
std::shared_ptr<ServiceJob> infer_job(ServedModel& model, InferRequest request, const JobOptions& options,
                                      std::shared_ptr<HttpReply> reply);
// A trace, or the events that lead to it.
std::shared_ptr<ServiceJob> explain_job(ServedModel& model, ExplainRequest request, const JobOptions& options,
                                        std::shared_ptr<HttpReply> reply);

// An HttpError, which nobody will read, if all clients of a batch are gone: the work ends in the middle.
void check_wanted(const std::vector<ServiceJob*>& together);
// 422 if a line has more pieces than the model is given.
void check_pieces(const TranslationBundle& bundle, const std::string& line, const JobOptions& options);
// Words between white space.
Index count_words(std::string_view text);

}  // namespace heed
