#pragma once

#include <string>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/losses.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/models/system.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"

// What several translation models are made of.

namespace heed {

// The words [batch, longest], with the unknown word in the padding: what stands there is never looked at.
Ids real_words(const Source& sentences);
// The same, [longest, batch]: the words of a step are neighbours.
Ids real_words_by_time(const Source& sentences);
// 1 for the real words of the batch, 0 for padding: [batch, longest].
Tensor real_places(const Source& sentences);

// Dropout in training, when there are random numbers.
Var dropped(const Var& x, double rate, Random* random);

// Initial values of a model's weights.
//   uniform 0.1: all of them U(-0.1, 0.1);  0: as the layers choose (Glorot, recurrent orthogonal)
Initialiser uniform_or(double range, const Initialiser& otherwise);
Initialiser normal_or(double deviation, const Initialiser& otherwise);

// Faults of a configuration that every model can have; `model` leads the message.
void check_common(const char* model, const Config& config, double dropout);
void check_dropout(const char* model, double dropout);
void check_one_of(const char* model, const char* field, const std::string& value,
                  const std::vector<std::string>& known);
void check_sampling(const char* model, const struct AttentionLosses& losses);
void check_positive(const char* model, std::initializer_list<std::pair<const char*, Index>> fields);

// The fields of an attention that a user chooses; widths, heads and rows are the model's.
void visit_attention(AttentionOptions& options, Fields& field);

// logits = x W + b, W [in, vocabulary] or, if tied, the target words' own vectors (Press & Wolf 2017).
class WordOutput {
 public:
  WordOutput() = default;
  WordOutput(const Scope& scope, Index in, const Embedding& target, bool tied, const Initialiser& initialise);
  WordScores operator()(const Var& x) const { return {x, weight_, bias_, {.b = tied_}}; }

 private:
  bool tied_ = false;
  Var weight_, bias_;
};

// One head of attention from a decoder to the source. A score that multiplies query and key number by number gets keys
// of the query's width through a map of its own where the annotations are wider.
class SourceAttention {
 public:
  SourceAttention() = default;
  SourceAttention(const Scope& scope, AttentionOptions options, Index query_width, Index annotation_width);

  Memory memory(const Var& annotations, const Ids& lengths) const { return memory(annotations, annotations, lengths); }
  // Looks at annotations and reads others of the same width.
  Memory memory(const Var& annotations, const Var& values, const Ids& lengths) const;
  // Queries [batch, n, width], the first of them at `position`; n is 1 for an attention that remembers. `whole`: they
  // are all of a sequence's, see Query.
  struct Result {
    Var read;     // [batch, n, annotation width]
    Var weights;  // [batch, n, m]
    Past past;
    Var log_probability, entropy;  // of sampled positions, [batch, n]; empty if none were
  };
  Result operator()(const Var& queries, Index position, const Memory& memory, const Past& past, Random* random,
                    bool whole = false) const;
  bool remembers() const { return attention_->carries().any(); }

 private:
  std::shared_ptr<const Attention> attention_;
  Linear key_map_;
  bool maps_keys_ = false;
};

// The attention of all steps of a target, whether they came one by one or at once.
struct AttentionRecord {
  std::vector<Var> weights;  // [batch, n', m] each
  struct Sampled {
    Index first;
    Var log_probability, entropy;  // [batch, n']
  };
  std::vector<Sampled> sampled;
  Index steps = 0;

  void add(const SourceAttention::Result& result);
  Var alignment() const;  // [batch, n, m]
  AttentionOfBatch traced(std::string name) const;
};

// What training adds for the attention.
struct AttentionLosses {
  double coverage = 0;             // λ of See, Liu, Manning 2017: λ Σ_t Σ_j min(a_tj, Σ_{t'<t} a_t'j)
  Reinforce sampling = {};         // of Xu et al. 2015, where positions are sampled
  std::string baseline = "batch";  // what a sentence's reward is compared with: batch or moving, as below

  void visit(Fields& field);
  void visit_sampling(Fields& field);
};
// Puts into result.penalty the sum over the real words of the coverage loss and, where positions were sampled, of Xu et
// al. 2015's estimator. A sentence's reward is log p(y | s). Its baseline is the mean of the other sentences' rewards
// (batch), or its number of words times the mean log-probability of a word in the batches before (moving), where
// options.baseline knows it: both are constants to the positions that are sampled, so the estimator stays unbiased.
// result.words are those of `previous`.
void add_attention_penalty(const AttentionLosses& losses, const AttentionRecord& record, const Source& previous,
                           const ForwardOptions& options, TeacherForced& result);

// What is copied from: the words of a source as ids of the extended vocabulary.
struct CopiedSource {
  Ids words = {};      // [batch, m]
  Index extended = 0;  // how many words there are
};

// See, Liu, Manning 2017: words may be copied from the source; one vocabulary for both sides, and behind it the words
// of each source that it lacks.
//   P(w) = p P_v(w) + (1 - p) Σ_{j: x_j = w} a_j,  p = σ(w·features + b)
class Copying {
 public:
  Copying() = default;
  Copying(const char* model, const Scope& scope, Index features, const Config& config);
  CopiedSource source(const Source& source) const;
  // P of features [batch, n, ·], the generator's scores [batch, n, vocabulary] and weights [batch, n, m].
  WordScores operator()(const Var& features, const WordScores& generator, const Var& weights,
                        const CopiedSource& source) const;

 private:
  Linear gate_;
  Index vocabulary_ = 0;
};

}  // namespace heed
