#pragma once

#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

// Rows of a table's gradient: row ids[i] of the table receives rows[i]. An id may occur more than once.
struct RowGradient {
  Ids ids;      // [n]
  Tensor rows;  // [n, width]
};

// The gradient of a variable of which only the positions [begin, begin + values' size) of one axis were used; zero
// elsewhere. Many slices of one variable (the steps of a sequence) add up in one tensor.
struct SliceGradient {
  Shape whole;
  int axis;
  Index begin;
  Tensor values;
};

// leftᵀ · right, added to the columns [begin, begin + right's width) of a matrix's gradient; the words stand in rows.
// Of a batch of matrices the gradient is one such product for each; then all columns take part.
struct ProductGradient {
  Tensor left;   // [..., words, rows of the matrix]
  Tensor right;  // [..., words, columns]
  Index begin = 0;
};

// The gradient of one variable: nothing, a tensor of its shape, or the touched rows of a large table; and products that
// wait to be computed as one. The steps of a decoder give a weight, or what they attend to, many products of few words
// each: one product of all words is faster, and no sum of its size is touched at every step.
class Gradient {
 public:
  Gradient() = default;
  Gradient(Tensor dense) : dense_(std::move(dense)) {}  // NOLINT: a tensor is a gradient
  static Gradient of_rows(Ids ids, Tensor rows);
  static Gradient of_slice(SliceGradient slice);
  static Gradient of_products(const Shape& matrix, std::vector<ProductGradient> products);

  bool empty() const { return !holds_numbers() && products_.empty(); }
  bool sparse() const { return !rows_.empty(); }
  bool sliced() const { return !slice_.empty(); }
  const Tensor& dense() const { return dense_; }
  Tensor& dense() { return dense_; }
  const std::vector<RowGradient>& rows() const { return rows_; }

  // Adds another gradient of the same variable, in place where this one owns its memory.
  void add(Gradient other);
  // The tensor alone, taken out, if it is there and nobody else holds it; empty otherwise.
  Tensor take_dense();
  // Computes the products that wait; they become a part of dense().
  void settle();
  // As a tensor of the given shape; zeros when empty.
  Tensor to_dense(const Shape& shape) const;
  // The rows with each id once, in rising order, repeated ids summed in the order they came.
  RowGradient merged() const;
  void scale(Real factor);

 private:
  bool holds_numbers() const { return dense_ || !rows_.empty() || !slice_.empty(); }

  Tensor dense_;
  std::vector<RowGradient> rows_;
  std::vector<SliceGradient> slice_;  // one or none; add() turns it into a part of dense_
  std::vector<ProductGradient> products_;
  Shape matrix_;  // of the products: [..., rows, columns]
};

}  // namespace heed
