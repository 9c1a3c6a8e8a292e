#include "heed/autograd/ops/shape.h"

#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/tensor_math.h"

namespace heed {

Var reshape(const Var& x, const Shape& shape) {
  if (const Int8Weight* int8 = int8_factor(x); int8 && shape.rank() >= 2 && shape[-1] == x.size(-1))
    return Var::leaf(std::make_shared<const Int8Weight>(int8->reshaped(shape)));
  return record("reshape", x.value().reshape(shape), {x},
                [from = x.shape()](const Tensor& dy) { return grads(dy.reshape(from)); });
}

Var transpose(const Var& x, int first, int second) {
  return record("transpose", x.value().transpose(first, second), {x},
                [first, second](const Tensor& dy) { return grads(dy.transpose(first, second)); });
}

Var slice(const Var& x, int axis, Index begin, Index end) {
  axis = x.shape().axis(axis, "slice");
  return record("slice", x.value().slice(axis, begin, end), {x}, [whole = x.shape(), axis, begin](const Tensor& dy) {
    return grads(Gradient::of_slice({whole, axis, begin, dy}));
  });
}

Var at(const Var& x, int axis, Index position) {
  axis = x.shape().axis(axis, "at");
  require(position >= 0 && position < x.size(axis), "[at] position {} is outside axis {} of shape {}", position, axis,
          x.shape());
  return reshape(slice(x, axis, position, position + 1), x.shape().without(axis));
}

std::vector<Var> split(const Var& x, int axis, std::span<const Index> sizes) {
  axis = x.shape().axis(axis, "split");
  Index total = 0;
  bool fit = true;  // checked one by one, so that the sum cannot overflow
  for (const Index size : sizes) {
    fit = fit && size >= 0 && size <= x.size(axis) - total;
    if (fit) total += size;
  }
  require(fit && total == x.size(axis), "[split] sizes [{}] do not add up to {}, axis {} of shape {}",
          fmt::join(sizes, ", "), x.size(axis), axis, x.shape());
  std::vector<Var> pieces;
  Index begin = 0;
  for (const Index size : sizes) {
    pieces.push_back(slice(x, axis, begin, begin + size));
    begin += size;
  }
  return pieces;
}

Var concat(std::span<const Var> parts, int axis) {
  require(!parts.empty(), "[concat] needs at least one part");
  axis = parts[0].shape().axis(axis, "concat");
  std::vector<Index> sizes;
  Index total = 0;
  for (const Var& part : parts) {
    require(part.rank() == parts[0].rank() && part.shape().with(axis, 1) == parts[0].shape().with(axis, 1),
            "[concat] shapes {} and {} differ outside axis {}", parts[0].shape(), part.shape(), axis);
    sizes.push_back(part.size(axis));
    total += part.size(axis);
  }
  Tensor y(parts[0].shape().with(axis, total));
  const AxisSizes all = around(y.shape(), axis);
  Index begin = 0;
  for (const Var& part : parts) {
    const Tensor from = part.value().contiguous();
    const Index length = part.size(axis) * all.inner;
    for (Index o = 0; o < all.outer; ++o)
      std::copy_n(from.data() + o * length, length, y.data() + (o * all.axis + begin) * all.inner);
    begin += part.size(axis);
  }
  return record("concat", y, parts, [sizes, axis](const Tensor& dy) {
    std::vector<Gradient> gradients;
    Index at = 0;
    for (const Index size : sizes) {
      gradients.emplace_back(dy.slice(axis, at, at + size).contiguous());
      at += size;
    }
    return gradients;
  });
}

Var stack(std::span<const Var> parts, int axis) {
  require(!parts.empty(), "[stack] needs at least one part");
  const Shape& shape = parts[0].shape();
  require(axis >= -shape.rank() - 1 && axis <= shape.rank(), "[stack] axis {} does not fit shape {}", axis, shape);
  if (axis < 0) axis += shape.rank() + 1;
  std::vector<Index> sizes(shape.sizes().begin(), shape.sizes().end());
  sizes.insert(sizes.begin() + axis, 1);
  std::vector<Var> lifted;
  for (const Var& part : parts) {
    require(part.shape() == shape, "[stack] shapes {} and {} differ", shape, part.shape());
    lifted.push_back(reshape(part, Shape(std::span<const Index>(sizes))));
  }
  return concat(lifted, axis);
}

Var pad(const Var& x, int axis, Index before, Index after, Real value) {
  axis = x.shape().axis(axis, "pad");
  require(before >= 0 && after >= 0, "[pad] negative padding {}, {}", before, after);
  const Index size = x.size(axis);
  Index padded = size;
  require(!__builtin_add_overflow(padded, before, &padded) && !__builtin_add_overflow(padded, after, &padded),
          "[pad] padding {}, {} is too large for axis {} of shape {}", before, after, axis, x.shape());
  Tensor y(x.shape().with(axis, padded), value);
  const AxisSizes to = around(y.shape(), axis);
  const Tensor from = x.value().contiguous();
  for (Index o = 0; o < to.outer; ++o)
    std::copy_n(from.data() + o * size * to.inner, size * to.inner, y.data() + (o * to.axis + before) * to.inner);
  return record("pad", y, {x}, [axis, before, size](const Tensor& dy) {
    return grads(dy.slice(axis, before, before + size).contiguous());
  });
}

Var gather(const Var& x, int axis, const Ids& ids) {
  axis = x.shape().axis(axis, "gather");
  require(ids.rank() == 1, "[gather] ids are a list, not shape {}", ids.shape());
  const Ids positions = ids.contiguous();
  for (const std::int32_t id : positions.values())
    require(id >= 0 && id < x.size(axis), "[gather] position {} is outside axis {} of shape {}", id, axis, x.shape());
  const AxisSizes s = around(x.shape(), axis);
  const Tensor from = x.value().contiguous();
  Tensor y(x.shape().with(axis, positions.size()));
  Real* to = y.data();
  for (Index o = 0; o < s.outer; ++o)
    for (const std::int32_t id : positions.values())
      to = std::copy_n(from.data() + (o * s.axis + id) * s.inner, s.inner, to);
  return record("gather", y, {x}, [shape = x.shape(), positions, s](const Tensor& dy) {
    if (s.outer == 1) return grads(Gradient::of_rows(positions, dy.reshape(Shape{positions.size(), s.inner})));
    Tensor dx(shape, Real{0});
    const Real* row = dy.data();
    for (Index o = 0; o < s.outer; ++o)
      for (const std::int32_t id : positions.values()) {
        kernels::accumulate(s.inner, row, dx.data() + (o * s.axis + id) * s.inner);
        row += s.inner;
      }
    return grads(dx);
  });
}

Var pick(const Var& x, const Ids& ids) {
  require(x.rank() >= 1 && ids.shape() == x.shape().without(-1), "[pick] ids {} do not fit shape {}", ids.shape(),
          x.shape());
  const Ids chosen = ids.contiguous();
  const Tensor from = x.value().contiguous();
  const Index n = x.size(-1);
  Tensor y(chosen.shape());
  for (Index i = 0; i < chosen.size(); ++i) {
    const std::int32_t id = chosen.data()[i];
    require(id >= 0 && id < n, "[pick] position {} is outside the last axis of shape {}", id, x.shape());
    y.data()[i] = from.data()[i * n + id];
  }
  return record("pick", y, {x}, [shape = x.shape(), chosen, n](const Tensor& dy) {
    Tensor dx(shape, Real{0});
    for (Index i = 0; i < chosen.size(); ++i) dx.data()[i * n + chosen.data()[i]] = dy.data()[i];
    return grads(dx);
  });
}

Var expand(const Var& x, const Shape& shape) {
  return record("expand", x.value().expand(shape), {x}, [](const Tensor& dy) { return grads(dy); });
}

}  // namespace heed
