#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/autograd/ops/loss.h"
#include "heed/base/fields.h"
#include "heed/base/random.h"
#include "heed/data/sense.h"
#include "heed/data/source.h"
#include "heed/nn/parameters.h"
#include "heed/search/decoding.h"

// A system is a published model: one pair of files with a config struct and a model. It registers itself, and the jobs,
// the command line, the model folder and the registry-driven tests find it. There are two families of models: a Writer
// writes words one after another, a Chooser scores labels, or what a sample can be answered with.

namespace heed {

// The fields of one system, with the defaults of its paper.
struct Config {
  // Filled in from the data: of each input the entries of its vocabulary or the width of its features, and the words or
  // labels that can be given.
  std::vector<Index> inputs = {0};
  Index outputs = 0;

  virtual ~Config() = default;
  // All fields but those above.
  virtual void visit(Fields& field) = 0;
};

// Which axis of a trace a side of an attention is: an input by its number, or what the model gives.
inline constexpr int kOutput = -1;

// One attention of a model, e.g. "decoder.layer1.source"; layers are counted from 1.
struct AttentionShape {
  std::string name;
  Index layer = 1, heads = 1;
  int rows = kOutput, columns = 0;
};

// The weights of one attention, in the order of Model::attentions().
struct AttentionOfBatch {
  std::string name;
  Tensor weights;  // [batch, heads, n, m]
};

struct ForwardOptions {
  Random* random = nullptr;                        // given in training: dropout and sampling are on
  bool alignment = false;                          // the alignment is wanted, with its gradient
  bool words = true;                               // false: nobody wants them, only what is attended to
  std::vector<AttentionOfBatch>* trace = nullptr;  // if given, every attention of the model is added to it
  // Factors, all 1, on the weights that the alignment is made of, [batch, n, m]; for their gradient, which is that of
  // the result with respect to the weights, times the weights, summed over the heads and layers they come from.
  Var gates = {};
  // What REINFORCE takes off a word's log-probability: their mean in the batches before, where that is known.
  std::optional<double> baseline = {};
  // [batch]: what the log-probability of each row's words counts in the loss, and with it what REINFORCE learns from
  // that; empty: 1.
  Tensor row_weights = {};
};

// Vectors of the words of an input, for those who bring some of their own.
struct WordTable {
  Var vectors;      // [vocabulary, width]
  Var frozen = {};  // [vocabulary]: 1 for words whose vector stays as it is; empty where all are learned
};

class Model {
 public:
  virtual ~Model() = default;
  // The attentions that a trace has. Where there is but one, it is the alignment.
  virtual std::vector<AttentionShape> attentions() const = 0;
  // Of each input that may be given vectors; none where the model takes none.
  virtual std::vector<WordTable> word_tables() const { return {}; }
};

// Logits of the next word at every position, x W + b: made when they are asked for, since a loss can do with a few rows
// of them at a time. A model that copies (See, Liu, Manning 2017) mixes in the words that it looks at,
//   P(w) = p P_v(w) + (1 - p) Σ_{j: x_j = w} a_j   over the extended vocabulary,
// and the logits are log P. A loss asks for P of the expected words alone.
class WordScores {
 public:
  WordScores() = default;
  // Made already.
  WordScores(Var logits) : logits_(std::move(logits)) {}  // NOLINT: logits are scores
  // x [..., in], W [in, vocabulary] or, with flip.b, [vocabulary, in], b [vocabulary] or empty.
  WordScores(Var x, Var weight, Var bias, Transposed flip = {})
      : x_(std::move(x)), weight_(std::move(weight)), bias_(std::move(bias)), flip_(flip) {}

  struct Copied {
    Var generates;       // p [batch, n]
    Var weights;         // a [batch, n, m]
    Ids source = {};     // x [batch, m], ids of the extended vocabulary
    Index extended = 0;  // its size
  };
  // The generator's scores [batch, n, vocabulary], and what is copied.
  WordScores(WordScores generator, Copied copied) : WordScores(std::move(generator)) { copied_ = std::move(copied); }

  // The same scores of some words alone, from what was chosen of the output's weights once for many steps. Not of a
  // model that copies.
  struct Chosen {
    Var weight, bias;
    Transposed flip;
  };
  Chosen chosen(const Ids& words) const;
  WordScores of(const Chosen& chosen) const { return {x_, chosen.weight, chosen.bias, chosen.flip}; }

  Var logits() const;  // [..., vocabulary], of a model that copies the extended one
  // The word with the largest of each row's logits, [rows], without most of them; empty where that cannot be told so.
  Ids likeliest(WordScreen& screen) const;
  Var cross_entropy(const Ids& expected, const CrossEntropy& options = {}) const;
  Index vocabulary() const;
  const Var& generates() const { return copied_.generates; }  // p [batch, n]; empty of a model that does not copy
  explicit operator bool() const { return logits_ || x_; }

 private:
  Var generated() const;  // logits without what is copied
  Var copied_cross_entropy(const Ids& expected, const CrossEntropy& options) const;

  Copied copied_;
  Var logits_;
  Var x_, weight_, bias_;
  Transposed flip_;
};

// Log-probability of so many words that were expected, under positions that were sampled.
struct Reward {
  double total = 0;
  Index words = 0;
};

struct TeacherForced {
  WordScores words;    // [batch, n, vocabulary]; empty if unwanted
  Var alignment;       // [batch, n, m]: weights over the source when word t is predicted; empty without attention, and
                       // where nobody asked and it would cost something
  Var penalty;         // a number that the model adds to the summed loss (coverage, hard attention); empty: nothing
  Reward reward = {};  // of sampled positions, for the baseline of the batches that follow
};

// Where sources have several texts (Writer::forward): the row of the source that each text belongs to. Else empty.
Ids rows_of_texts(const Source& source, const Source& previous);

// Reads one input and writes words.
class Writer : public Model {
 public:
  // Texts end with the end symbol. `previous` is the output shifted by one: the begin symbol and all words but the
  // last. Nothing of a sample depends on its neighbours in the batch. A source may have several texts, equally many of
  // each: `previous` then has more rows than the source, the texts of one source are neighbours, and gates and all that
  // is returned have a row for each text.
  virtual TeacherForced forward(const Source& source, const Source& previous,
                                const ForwardOptions& options = {}) const = 0;
  // Repeated steps give what forward gives, word by word. Records no gradients. The model must outlive the decoding.
  virtual std::unique_ptr<Decoding> start(const Source& source) const = 0;
  // Whether it writes words that stand in its source and not in its vocabulary (Source::copies).
  virtual bool copies() const { return false; }
  // Whether a word's alignment is not the row of the step that writes it but of the next one, which reads it.
  virtual bool aligns_as_read() const { return false; }
  // The rows [n, m] of a sentence's steps as the alignment of what they write; the end, which nothing reads, keeps its
  // own.
  Tensor alignment_of_words(const Tensor& rows) const;
};

struct Chosen {
  Var scores;     // [batch, labels or choices]: logits
  Var alignment;  // [batch, n, m] between the axes that Chooser::alignment_axes names; empty as above
  Var penalty;    // as above
};

// Reads one input or several and scores labels, or the choices that come with each sample (models/reader.h).
class Chooser : public Model {
 public:
  // Inputs are in the job's order; texts end with the end symbol.
  virtual Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options = {}) const = 0;
  // Rows and columns of the alignment. By default the label (one row) looks at the first input.
  virtual std::pair<int, int> alignment_axes() const { return {kOutput, 0}; }
};

struct System {
  std::string name;
  std::string summary;  // one line
  std::string paper;
  std::string job;                   // it was published for; others that read and give the same kinds may use it
  std::vector<std::string> presets;  // names `config` takes: "paper" and "small" at least
  std::function<std::unique_ptr<Config>(const std::string& preset)> config;
  std::function<std::unique_ptr<Model>(const Scope&, const Config&)> make;
  std::vector<std::pair<std::string, std::string>> training = {};  // its own defaults of the options of training
  std::vector<std::string> also = {};     // further jobs it was published for, which read or give other kinds
  std::vector<std::string> later = {};    // fields that its first folders lack: they mean the default there
  std::vector<std::string> running = {};  // fields that no weights depend on: a run may set them anew
  // What takes in an input that is an image or a sound, as the configuration says.
  std::function<std::unique_ptr<Sense>(const Config&, std::size_t input)> sense = {};
};

// For `make`: the model of a configuration that `config` gave.
template <class Made, class MadeConfig>
std::unique_ptr<Model> make_model(const Scope& scope, const Config& config) {
  return std::make_unique<Made>(scope, dynamic_cast<const MadeConfig&>(config));
}

// All systems by name.
const std::vector<System>& systems();
// An Error with the nearest known name if there is none.
const System& system_named(const std::string& name);

struct RegisterSystem {
  explicit RegisterSystem(System system);
};

}  // namespace heed
