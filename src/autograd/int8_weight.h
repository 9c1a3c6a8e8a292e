#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "heed/kernels/int8.h"
#include "heed/tensor/tensor.h"

namespace heed {

using Bytes = TensorOf<std::int8_t>;

// Weights in eight bits (kernels/int8.h), for models that are run: a quarter of the memory, and products of whole
// numbers. Each output has a scale of its own. Outputs are the last axis, as in y = x W, or the first, as in a table
// of words, which is multiplied the other way round and whose rows are looked up.
class Int8Weight {
 public:
  enum class Outputs { last, first };
  static constexpr Index kMostInputs = 65536;  // of an output: the sum of their products fits 32 bits

  // Rounded. A number that is not finite is an Error.
  Int8Weight(const Tensor& weights, Outputs outputs);
  // As they were rounded before: numbers of the weights' shape, and a scale for each output.
  Int8Weight(const Bytes& rounded, const Tensor& scales, Outputs outputs);

  const Shape& shape() const { return shape_; }
  Outputs outputs() const { return outputs_; }
  const Tensor& scales() const { return scales_; }
  // The numbers as they were rounded.
  Bytes rounded() const;
  // What they stand for, into a tensor of their shape.
  void unpack(Tensor& weights) const;
  // One output's weights, of a table one row.
  void copy_output(Index output, Real* to) const;

  // x W, or x Wᵀ of a table: x [rows, inputs] → [rows, outputs].
  Tensor product(const Tensor& x) const;
  // The same of the outputs [begin, end) of each row; y = y + x W where `add` is set.
  void multiply(Index rows, const Real* x, Index x_stride, Index begin, Index end, bool add, Real* y,
                Index y_stride) const;

  // The same numbers as products read them.
  kernels::Int8Panels panels() const { return {inputs_, scales_.size(), panels_.data(), scales_.data()}; }

  // Each output's weights multiplied by a factor; they share what is rounded.
  Int8Weight scaled(const Tensor& factors) const;
  // Other axes before the last, which has the outputs and stays.
  Int8Weight reshaped(const Shape& shape) const;
  // Some of the outputs, which become the first axis.
  Int8Weight chosen(const Ids& outputs) const;
  // √Σ w² of each output, computed when it is first asked for.
  const Tensor& norms() const;

 private:
  Shape shape_;
  Outputs outputs_;
  Index inputs_;
  Bytes panels_;
  Tensor scales_;
  struct Norms {
    std::once_flag computed;
    Tensor values;
  };
  std::shared_ptr<Norms> norms_ = std::make_shared<Norms>();
};

}  // namespace heed
