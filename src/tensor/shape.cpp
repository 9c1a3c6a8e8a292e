#include "heed/tensor/shape.h"

namespace heed {

void Shape::fail_for_size(Index size) const {
  require(size >= 0, "[shape] negative size {} in {}", size, *this);
  fail("[shape] the number of elements of {} overflows", *this);
}

void Shape::fail_for_axis(int axis, const char* op) const {
  fail("[{}] axis {} does not exist in shape {}", op, axis, *this);
}

fmt::format_context::iterator write_shape(const Shape& shape, fmt::format_context& context) {
  return fmt::format_to(context.out(), "[{}]", fmt::join(shape.sizes(), ", "));
}

Shape broadcast(const Shape& a, const Shape& b, const char* op) {
  if (a == b) return a;
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  std::array<Index, Shape::kMaxRank> sizes{};
  for (int i = 1; i <= rank; ++i) {
    const Index x = i <= a.rank() ? a[-i] : 1, y = i <= b.rank() ? b[-i] : 1;
    require(x == y || x == 1 || y == 1, "[{}] shapes {} and {} do not broadcast: {} against {}", op, a, b, x, y);
    sizes[static_cast<std::size_t>(rank - i)] = x == 1 ? y : x;
  }
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank)));
}

}  // namespace heed
