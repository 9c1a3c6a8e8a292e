#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "heed/tensor/memory.h"
#include "heed/tensor/shape.h"

namespace heed {

// A strided view of shared memory. Copying a tensor copies the view, never the numbers. An empty (default) tensor
// has no memory and is false in a condition. Kernels take contiguous memory; ops ask for it with contiguous().
template <class T>
class TensorOf {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  using Strides = std::array<Index, Shape::kMaxRank>;

  TensorOf() = default;
  // Uninitialised memory.
  explicit TensorOf(const Shape& shape)
      : buffer_(static_cast<std::size_t>(shape.size()) * sizeof(T)),
        data_(static_cast<T*>(buffer_.data())),
        shape_(shape),
        strides_(packed_strides(shape)) {}
  TensorOf(const Shape& shape, T fill) : TensorOf(shape) { std::fill_n(data_, size(), fill); }
  TensorOf(const Shape& shape, std::span<const T> values) : TensorOf(shape) {
    require(static_cast<Index>(values.size()) == size(), "[tensor] {} values do not fill shape {}", values.size(),
            shape);
    std::copy(values.begin(), values.end(), data_);
  }
  TensorOf(const Shape& shape, std::initializer_list<T> values)
      : TensorOf(shape, std::span<const T>(values.begin(), values.size())) {}
  // A view of memory that `buffer` keeps alive.
  TensorOf(memory::Buffer buffer, T* data, const Shape& shape)
      : buffer_(std::move(buffer)), data_(data), shape_(shape), strides_(packed_strides(shape)) {}
  static TensorOf scalar(T value) { return TensorOf(Shape{}, value); }

  explicit operator bool() const { return static_cast<bool>(buffer_); }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  Index size() const { return shape_.size(); }
  Index size(int axis) const { return shape_[axis]; }
  Index stride(int axis) const { return strides_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)]; }
  const Strides& strides() const { return strides_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  // The numbers in row-major order; only of a contiguous tensor.
  std::span<T> values() { return {data_, static_cast<std::size_t>(size())}; }
  std::span<const T> values() const { return {data_, static_cast<std::size_t>(size())}; }
  T item() const {
    require(size() == 1, "[item] a tensor of shape {} is not one number", shape_);
    return *data_;
  }
  T at(std::initializer_list<Index> position) const {
    require(static_cast<int>(position.size()) == rank(), "[at] {} indices for shape {}", position.size(), shape_);
    Index offset = 0;
    int axis = 0;
    for (const Index i : position) {
      require(i >= 0 && i < shape_[axis], "[at] index {} is outside 0..{}", i, shape_[axis] - 1);
      offset += i * stride(axis++);
    }
    return data_[offset];
  }
  // Whether this view alone holds the memory, so that it may be overwritten.
  bool unique() const { return buffer_.unique(); }

  bool contiguous_layout() const {
    Index expected = 1;
    for (int i = rank() - 1; i >= 0; --i) {
      if (shape_[i] != 1 && stride(i) != expected) return false;
      expected *= shape_[i];
    }
    return true;
  }
  TensorOf contiguous() const { return contiguous_layout() ? *this : copy(); }
  TensorOf copy() const {
    TensorOf result(shape_);
    if (contiguous_layout()) {
      if (size() > 0) std::memcpy(result.data_, data_, static_cast<std::size_t>(size()) * sizeof(T));
    } else {
      copy_strided(*this, result.data_);
    }
    return result;
  }

  // Views --------------------------------------------------------------------------------------------------------

  // The same numbers in another shape. Copies only if the layout forces it.
  TensorOf reshape(const Shape& shape) const {
    require(shape.size() == size(), "[reshape] shape {} ({} elements) cannot become {} ({} elements)", shape_, size(),
            shape, shape.size());
    TensorOf view = contiguous();
    view.shape_ = shape;
    view.strides_ = packed_strides(shape);
    return view;
  }
  TensorOf transpose(int first, int second) const {
    first = shape_.axis(first, "transpose"), second = shape_.axis(second, "transpose");
    TensorOf view = *this;
    // By way of 1: with one size in both places, the count could overflow.
    view.shape_ = shape_.with(first, 1).with(second, shape_[first]).with(first, shape_[second]);
    std::swap(view.strides_[static_cast<std::size_t>(first)], view.strides_[static_cast<std::size_t>(second)]);
    return view;
  }
  // Positions [begin, end) of one axis.
  TensorOf slice(int axis, Index begin, Index end) const {
    axis = shape_.axis(axis, "slice");
    require(0 <= begin && begin <= end && end <= shape_[axis], "[slice] range {}..{} is outside axis {} of shape {}",
            begin, end, axis, shape_);
    TensorOf view = *this;
    view.shape_ = shape_.with(axis, end - begin);
    view.data_ += begin * stride(axis);
    return view;
  }
  // Repeats axes of size 1 (and missing leading axes) without copying: their stride becomes 0.
  TensorOf expand(const Shape& shape) const {
    require(broadcast(shape_, shape, "expand") == shape, "[expand] shape {} does not expand to {}", shape_, shape);
    TensorOf view = *this;
    view.shape_ = shape;
    for (int i = 1; i <= shape.rank(); ++i) {
      const bool repeated = i > rank() || (shape_[-i] == 1 && shape[-i] != 1);
      view.strides_[static_cast<std::size_t>(shape.rank() - i)] = repeated ? 0 : stride(-i);
    }
    return view;
  }

  static Strides packed_strides(const Shape& shape) {
    Strides strides{};
    Index stride = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      strides[static_cast<std::size_t>(i)] = stride;
      stride *= shape[i];
    }
    return strides;
  }

 private:
  static void copy_strided(const TensorOf& from, T* to) {
    if (from.size() == 0) return;
    const int last = from.rank() - 1;
    const Index inner = from.shape_[last], step = from.stride(last);
    std::array<Index, Shape::kMaxRank> position{};
    for (Index row = 0, rows = from.size() / inner; row < rows; ++row) {
      const T* source = from.data_;
      for (int i = 0; i < last; ++i) source += position[static_cast<std::size_t>(i)] * from.stride(i);
      if (step == 1) {
        std::memcpy(to, source, static_cast<std::size_t>(inner) * sizeof(T));
      } else {
        for (Index i = 0; i < inner; ++i) to[i] = source[i * step];
      }
      to += inner;
      for (int i = last - 1; i >= 0 && ++position[static_cast<std::size_t>(i)] == from.shape_[i]; --i)
        position[static_cast<std::size_t>(i)] = 0;
    }
  }

  memory::Buffer buffer_;
  T* data_ = nullptr;
  Shape shape_;
  Strides strides_{};
};

using Tensor = TensorOf<Real>;
// Token numbers, class labels, positions.
using Ids = TensorOf<std::int32_t>;
// One sense everywhere: true = may attend, takes part, is real.
using Mask = TensorOf<bool>;

}  // namespace heed
