#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/autograd/ops/loss.h"
#include "heed/base/fields.h"
#include "heed/base/random.h"
#include "heed/nn/parameters.h"

// What every translation system has in common: teacher-forced training and decoding row by row. A system is one pair
// of files with a config struct and a model; it registers itself, and the command line, the model folder and the
// registry-driven tests find it.

namespace heed {

// A padded batch of sentences; what stands beyond a length is never looked at.
struct Sentences {
  Ids ids;      // [batch, longest]
  Ids lengths;  // [batch], each in 0..longest

  Index batch() const { return ids.size(0); }
  Index longest() const { return ids.size(1); }
};

// The fields of one system, with the defaults of its paper.
struct TranslationConfig {
  Index source_vocabulary = 0, target_vocabulary = 0;  // filled in from the data

  virtual ~TranslationConfig() = default;
  // All fields but the vocabularies.
  virtual void visit(Fields& field) = 0;
};

// The weights of one attention of the model, e.g. "decoder.layer1.source"; layers are counted from 1.
struct TracedAttention {
  std::string name;
  Tensor weights;  // [batch, heads, n, m]
};

struct ForwardOptions {
  Random* random = nullptr;                       // given in training: dropout and sampling are on
  bool alignment = false;                         // the alignment is wanted, with its gradient
  bool words = true;                              // false: nobody wants them, only what is attended to
  std::vector<TracedAttention>* trace = nullptr;  // if given, every attention of the model is added to it
  // Factors, all 1, on the weights that the alignment is made of, [batch, n, m]; for their gradient, which is that of
  // the result with respect to the weights, times the weights, summed over the heads and layers they come from.
  Var gates = {};
};

// Logits of the next word at every position, x W + b: made when they are asked for, since a loss can do with a few rows
// of them at a time.
class WordScores {
 public:
  WordScores() = default;
  // Made already, such as a copying model's log-probabilities.
  WordScores(Var logits) : logits_(std::move(logits)) {}  // NOLINT: logits are scores
  // x [..., in], W [in, vocabulary] or, with flip.b, [vocabulary, in], b [vocabulary] or empty.
  WordScores(Var x, Var weight, Var bias, Transposed flip = {})
      : x_(std::move(x)), weight_(std::move(weight)), bias_(std::move(bias)), flip_(flip) {}

  Var logits() const;  // [..., vocabulary]
  Var cross_entropy(const Ids& expected, const CrossEntropy& options = {}) const;
  Index vocabulary() const { return logits_ ? logits_.size(-1) : weight_.size(flip_.b ? 0 : 1); }
  explicit operator bool() const { return logits_ || x_; }

 private:
  Var logits_;
  Var x_, weight_, bias_;
  Transposed flip_;
};

struct TeacherForced {
  WordScores words;  // [batch, n, target vocabulary]; empty if unwanted
  Var alignment;     // [batch, n, m]: weights over the source when word t is predicted; empty without attention, and
                     // where nobody asked and it would cost something
  Var penalty;       // a number that the model adds to the summed loss (coverage, hard attention); empty: nothing
};

// One decoding in progress: rows of hypotheses, each over one of the sources. At the start row i belongs to source i.
class Decoding {
 public:
  virtual ~Decoding() = default;
  struct Step {
    Tensor words;             // [rows, target vocabulary]: log-probabilities of the next word, or logits
    Tensor weights;           // [rows, m] over the source; empty without attention
    bool normalised = false;  // whether `words` are log-probabilities; logits are left to whoever looks at them
    Tensor log_probabilities() const;
  };
  // Reads each row's last word (the begin symbol at first), [rows].
  virtual Step step(const Ids& previous) = 0;
  // Row i becomes what row rows[i] was; rows may be repeated, dropped and reordered.
  virtual void select(const Ids& rows) = 0;
  virtual Index rows() const = 0;
};

class TranslationModel {
 public:
  virtual ~TranslationModel() = default;
  // Sources end with the end symbol. `previous` is the target shifted by one: the begin symbol and all words but the
  // last. Nothing of a sentence depends on its neighbours in the batch.
  virtual TeacherForced forward(const Sentences& source, const Sentences& previous,
                                const ForwardOptions& options = {}) const = 0;
  // The attentions that a trace has, by name. Where there is but one, it is the alignment.
  virtual std::vector<std::string> attention_names() const = 0;
  // Repeated steps give what forward gives, word by word. Records no gradients. The model must outlive the decoding.
  virtual std::unique_ptr<Decoding> start(const Sentences& source) const = 0;
};

struct TranslationSystem {
  std::string name;
  std::string summary;  // one line
  std::string paper;
  std::vector<std::string> presets;  // names `config` takes: "paper" and "small" at least
  std::function<std::unique_ptr<TranslationConfig>(const std::string& preset)> config;
  std::function<std::unique_ptr<TranslationModel>(const Scope&, const TranslationConfig&)> make;
};

// For `make`: the model of a configuration that `config` gave.
template <class Model, class Config>
std::unique_ptr<TranslationModel> make_model(const Scope& scope, const TranslationConfig& config) {
  return std::make_unique<Model>(scope, dynamic_cast<const Config&>(config));
}

const std::vector<TranslationSystem>& translation_systems();
// An Error with the nearest known name if there is none.
const TranslationSystem& translation_system_named(const std::string& name);

struct RegisterTranslationSystem {
  explicit RegisterTranslationSystem(TranslationSystem system);
};

// The log-softmax of logits [rows, vocabulary], without a gradient.
Tensor log_probabilities_of(const Tensor& logits);

}  // namespace heed
