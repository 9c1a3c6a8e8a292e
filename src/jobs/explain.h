#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/trace/trace.h"
#include "heed/jobs/batched_search.h"
#include "heed/jobs/translation_folder.h"

namespace heed {

// A token as it is written, before the translation is finished.
struct ExplainedToken {
  Index sentence = 0, step = 0;        // numbers of the source and of the token, from 0
  TraceToken token = {};               // its place is that in `text`
  std::string text = {};               // the translation so far
  double log_probability = 0;          // of the token
  std::span<const Real> weights = {};  // over the source's tokens; empty without attention. Gone after the call
};

struct ExplainOptions {
  BatchedSearch search = {};  // how to translate where no target is given; its observer is not used
  bool attentions = false;    // every attention of the model, not only its alignment
  bool beam = false;          // the hypotheses that were alive
  Index longest = 1000;       // pieces of a text; a longer one is an Error
  std::function<void(const ExplainedToken&)> on_token = {};  // called as tokens come; greedy search only
};

// What a loaded model attends to. Explaining changes nothing, so several threads may share one.
class Explainer {
 public:
  // `name` is the model's in the traces.
  Explainer(std::shared_ptr<const TranslationBundle> bundle, std::string name);

  // Traces of what the model translates the sources to. The alignment is the one that the search itself saw; further
  // attentions cost one teacher-forced pass over all sentences. A text that is no UTF-8 is an Error, an empty one has
  // an empty translation.
  std::vector<Trace> explain(std::span<const std::string> sources, const ExplainOptions& options = {}) const;
  // Traces of the model reading the given targets, one a source.
  std::vector<Trace> explain_given(std::span<const std::string> sources, std::span<const std::string> targets,
                                   const ExplainOptions& options = {}) const;

  // A source as the model reads it, the end included.
  TraceText read_source(const std::string& text) const;
  const TranslationBundle& bundle() const { return *bundle_; }
  const std::string& name() const { return name_; }

 private:
  struct Sentence;  // both sides of one trace as ids
  Sentence encoded(const std::string& source, Index longest) const;
  Trace begun(const Sentence& sentence) const;
  // What a teacher-forced pass tells: attentions if asked for, and for given targets alignment and probabilities.
  enum class Target { searched, given };
  void read_forced(std::span<const Sentence> sentences, std::span<Trace> traces, const ExplainOptions& options,
                   Target target) const;

  std::shared_ptr<const TranslationBundle> bundle_;
  std::string name_;
};

}  // namespace heed
