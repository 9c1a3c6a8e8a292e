#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

// One decoding in progress: rows of hypotheses, each over one of the sources. At the start row i belongs to source i.
class Decoding {
 public:
  virtual ~Decoding() = default;
  struct Step {
    Tensor words;             // [rows, vocabulary]: log-probabilities of the next word, or logits; of a model that
                              // copies also of the source's words that its vocabulary lacks
    Tensor weights;           // [rows, m] over the source; empty without attention
    bool normalised = false;  // whether `words` are log-probabilities; logits are left to whoever looks at them
    Tensor generates = {};    // [rows]: the share that is not copied, of a model that copies; else empty
    Ids likeliest = {};       // [rows]: the likeliest words, in place of `words`, where no more was asked for
    Tensor log_probabilities() const;
  };
  // Reads each row's last word (the begin symbol at first), [rows].
  virtual Step step(const Ids& previous) = 0;
  // Row i becomes what row rows[i] was; rows may be repeated, dropped and reordered.
  virtual void select(const Ids& rows) = 0;
  virtual Index rows() const = 0;
};

// The log-softmax of logits [..., vocabulary], without a gradient.
Tensor log_probabilities_of(const Tensor& logits);

}  // namespace heed
