#pragma once

#include <array>
#include <initializer_list>
#include <span>

#include "heed/base/error.h"
#include "heed/base/real.h"

namespace heed {

// The sizes of a tensor's axes, outermost first. A small value: no allocation.
class Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<Index> sizes) : Shape(std::span<const Index>(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const Index> sizes) {
    require(sizes.size() <= kMaxRank, "[shape] at most {} axes are supported, not {}", int{kMaxRank}, sizes.size());
    for (const Index size : sizes) sizes_[rank_++] = size;
    check();
  }

  int rank() const { return rank_; }
  Index size() const { return size_; }  // elements in all
  // Negative axes count from the end, as everywhere in the field.
  Index operator[](int axis) const { return sizes_[axis < 0 ? axis + rank_ : axis]; }
  Index back() const { return sizes_[rank_ - 1]; }
  std::span<const Index> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }
  bool operator==(const Shape& other) const {
    for (int i = 0; i < rank_; ++i)
      if (sizes_[i] != other.sizes_[i]) return false;
    return rank_ == other.rank_;
  }

  Shape with(int axis, Index size) const {
    Shape copy = *this;
    copy.sizes_[axis < 0 ? axis + rank_ : axis] = size;
    copy.check();
    return copy;
  }
  Shape without(int axis) const {
    Shape copy;
    for (int i = 0; i < rank_; ++i)
      if (i != (axis < 0 ? axis + rank_ : axis)) copy.sizes_[copy.rank_++] = sizes_[i];
    copy.check();
    return copy;
  }
  Shape append(Index size) const {
    require(rank_ < kMaxRank, "[shape] at most {} axes are supported", int{kMaxRank});
    Shape copy = *this;
    copy.sizes_[copy.rank_++] = size;
    copy.check();
    return copy;
  }
  // The first `axes` axes.
  Shape leading(int axes) const { return Shape(sizes().first(static_cast<std::size_t>(axes))); }
  // The axis as 0..rank-1, or an error that names the op.
  int axis(int axis, const char* op) const {
    if (axis < -rank_ || axis >= rank_) [[unlikely]]
      fail_for_axis(axis, op);
    return axis < 0 ? axis + rank_ : axis;
  }

 private:
  // Half of the range stays free, so that a byte count of any element type cannot overflow either.
  void check() {
    size_ = 1;
    for (const Index size : sizes())
      if (size < 0 || __builtin_mul_overflow(size_, size, &size_) || size_ > (Index{1} << 58)) [[unlikely]]
        fail_for_size(size);
  }
  [[noreturn]] void fail_for_size(Index size) const;
  [[noreturn]] void fail_for_axis(int axis, const char* op) const;

  std::array<Index, kMaxRank> sizes_{};
  int rank_ = 0;
  Index size_ = 1;
};

// What formats a shape, once for all: a header that formats numbers itself costs every source seconds of compiling.
fmt::format_context::iterator write_shape(const Shape& shape, fmt::format_context& context);

}  // namespace heed

// "[2, 3]". Messages take the shape itself: it is written out only when a check fails.
template <>
struct fmt::formatter<heed::Shape> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  auto format(const heed::Shape& shape, format_context& context) const { return heed::write_shape(shape, context); }
};

namespace heed {

// The shape both broadcast to: axes are matched from the last one; a size of 1 is repeated.
Shape broadcast(const Shape& a, const Shape& b, const char* op);

}  // namespace heed
