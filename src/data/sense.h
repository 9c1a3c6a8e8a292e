#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/data/frame_times.h"
#include "heed/data/sample.h"
#include "heed/nn/parameters.h"
#include "heed/tensor/named_tensor.h"

namespace heed {

// An input that is not text as a model reads it.
struct Featured {
  Tensor features;              // [length, width]
  Index rows = 0, columns = 0;  // of an image: the grid whose regions they are, row by row
  FrameTimes frames = {};       // of a sound
  std::string preview = {};     // of an image: a small one as a data: URL; may be empty
};

// How a system takes in what is not text: regions of an image, frames of a sound. What a vocabulary is to texts.
class Sense {
 public:
  virtual ~Sense() = default;

  virtual Index width() const = 0;
  // Of a value that is decoded. Many threads may call it. What cannot be taken in is an Error.
  virtual Featured operator()(const Value& value) const = 0;
  // The same of any value of the kind, which is decoded only if that is needed.
  virtual Featured sensed(Kind kind, const Value& value) const { return (*this)(decoded(kind, value)); }
  // Whether features cost much to make and stay the same for all of a training, so that it keeps them in a file.
  virtual bool worth_keeping() const { return false; }
  // Whether features take far more memory than their input does, and are made in no time beside what a model does with
  // them, so that a training makes them anew for each batch.
  virtual bool bulky() const { return false; }
  // What tells it, beside its width and what it knows, from a sense that makes other features of the same input.
  virtual std::string settings() const { return ""; }

  // What there is to learn from when a training begins.
  struct Lesson {
    std::vector<NamedTensor> weights = {};  // ready-made ones, of the file that the user names; may be empty
    std::function<bool(Value&)> next = {};  // the next input of the training, decoded; false after the last one
  };
  virtual void learn(const Lesson&) {}
  // What it knows beyond its configuration. A model folder keeps it, and gives it back before the sense is used.
  virtual std::vector<NamedTensor> knowledge() const { return {}; }
  virtual void recall(const GivenValues&) {}
  // Takes over what the sense of another configuration knows, where a training begins with a model of that one. False
  // if it cannot: then the other sense goes on.
  virtual bool succeed(const Sense&) { return false; }
};

}  // namespace heed
