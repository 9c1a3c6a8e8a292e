#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/serve/work.h"

namespace heed {

// What a client may say about words that are written.
struct WritingOptions {
  OutputLimits limits = {};
  Index no_repeat = 0;
};

// Samples of one client that a model is run on. What is asked of one model is worked on together, whatever form the
// answers have.
class RunWork : public Work {
 public:
  // `best` answers are wanted for each sample.
  RunWork(const Model& model, std::vector<SentSample> samples, Index best, const WorkOptions& options,
          std::shared_ptr<HttpReply> reply, const WritingOptions& writing = {});
  Index sentences() const override { return static_cast<Index>(samples_.size()); }
  WorkCount run(const std::vector<Work*>& together) const override;

 protected:
  // Made of the results of every sample, the best first.
  virtual HttpResponse answer(std::span<const std::vector<Result>> results) const = 0;

 private:
  std::vector<SentSample> samples_;
  Index best_;
  WorkOptions options_;
  WritingOptions writing_;
};

// Texts cut into lines, each a sample by itself, and what comes of them put together again.
class TextLines {
 public:
  // 422 if there are more lines than samples are allowed; `name` leads the message.
  TextLines(const std::string& name, std::span<const std::string> texts, const RequestLimits& limits);
  std::vector<SentSample> samples() const;
  // For every text `count` texts: the best of each line, then the second of each, and so on. A line that has fewer
  // lends its best.
  std::vector<std::vector<std::string>> join(std::span<const std::vector<Result>> results, Index count) const;

 private:
  std::vector<std::string> lines_;
  std::vector<std::size_t> counts_;  // of each text's lines
};

}  // namespace heed
