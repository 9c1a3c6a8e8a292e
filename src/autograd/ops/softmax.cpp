#include "heed/autograd/ops/softmax.h"

#include "heed/autograd/tensor_math.h"
#include "heed/kernels/softmax.h"

namespace heed {
namespace {

// The mask seen as rows of x: calls body(first row, rows, row mask) for each run of rows whose masks are evenly spaced.
template <class Body>
void for_each_masked_run(const Shape& shape, const Mask& mask, const Body& body) {
  const Index n = shape.back(), rows = shape.size() / n;
  if (!mask) return body(Index{0}, rows, kernels::RowMask{});
  const int outer_axes = shape.rank() - 2;
  if (outer_axes < 0 || mask.contiguous_layout()) return body(Index{0}, rows, kernels::RowMask{mask.data(), n});
  const Index run = shape[-2];
  std::array<Index, Shape::kMaxRank> position{};
  for (Index first = 0; first < rows; first += run) {
    const bool* at = mask.data();
    for (int i = 0; i < outer_axes; ++i) at += position[static_cast<std::size_t>(i)] * mask.stride(i);
    body(first, run, kernels::RowMask{at, mask.stride(-2)});
    for (int i = outer_axes - 1; i >= 0 && ++position[static_cast<std::size_t>(i)] == shape[i]; --i)
      position[static_cast<std::size_t>(i)] = 0;
  }
}

}  // namespace

// y = exp(x) / Σ exp(x);  dx = y ∘ (dy - Σ dy ∘ y)
Var softmax(const Var& x, const Mask& mask) {
  require(x.rank() >= 1, "[softmax] needs at least one axis");
  const Mask fit = fitted(mask, x.shape(), "softmax");
  const Tensor input = x.value().contiguous();
  const Index n = x.size(-1);
  Tensor y(x.shape());
  if (y.size() > 0)
    for_each_masked_run(x.shape(), fit, [&](Index first, Index rows, kernels::RowMask row_mask) {
      kernels::softmax(rows, n, input.data() + first * n, row_mask, y.data() + first * n);
    });
  return record("softmax", y, {x}, [y, n](const Tensor& dy) {
    Tensor dx(y.shape());
    if (y.size() > 0) kernels::softmax_backward(y.size() / n, n, dy.data(), y.data(), dx.data());
    return grads(dx);
  });
}

// y = x - log Σ exp(x);  dx = dy - exp(y) Σ dy
Var log_softmax(const Var& x, const Mask& mask) {
  require(x.rank() >= 1, "[log_softmax] needs at least one axis");
  const Mask fit = fitted(mask, x.shape(), "log_softmax");
  const Tensor input = x.value().contiguous();
  const Index n = x.size(-1);
  Tensor y(x.shape());
  if (y.size() > 0)
    for_each_masked_run(x.shape(), fit, [&](Index first, Index rows, kernels::RowMask row_mask) {
      kernels::log_softmax(rows, n, input.data() + first * n, row_mask, y.data() + first * n);
    });
  return record("log_softmax", y, {x}, [y, n, fit](const Tensor& dy) {
    Tensor dx(y.shape());
    if (y.size() > 0)
      for_each_masked_run(y.shape(), fit, [&](Index first, Index rows, kernels::RowMask row_mask) {
        const Index at = first * n;
        kernels::log_softmax_backward(rows, n, dy.data() + at, y.data() + at, row_mask, dx.data() + at);
      });
    return grads(dx);
  });
}

}  // namespace heed
