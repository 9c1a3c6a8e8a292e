#include "heed/kernels/pooling.h"

#include <algorithm>

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/pooling.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// The real part of one window: `rows` × `columns` pixels from `first` on, both counted in pixels.
struct Patch {
  Index first, rows, columns, row_stride;

  Index pixels() const { return rows * columns; }
  template <class Body>
  HWY_INLINE void for_each_pixel(const Body& body) const {
    for (Index row = 0; row < rows; ++row)
      for (Index column = 0; column < columns; ++column) body(first + row * row_stride + column);
  }
};

// Calls body(output pixel, patch) for output rows [begin, end), counted over the whole batch.
template <class Body>
HWY_INLINE void for_each_window(const PoolSizes& s, Index begin, Index end, const Body& body) {
  for (Index row = begin; row < end; ++row) {
    const Index image = row / s.height.output, i = row % s.height.output;
    const auto vertical = s.height.inside(i);
    const Index top = image * s.height.input + s.height.position(i, vertical.begin);
    for (Index j = 0; j < s.width.output; ++j) {
      const auto horizontal = s.width.inside(j);
      body(row * s.width.output + j,
           Patch{top * s.width.input + s.width.position(j, horizontal.begin), vertical.end - vertical.begin,
                 horizontal.end - horizontal.begin, s.width.input});
    }
  }
}

// Calls body(offset, load, store) for every vector of channels.
template <class Body>
HWY_INLINE void for_each_channel(Index channels, const Body& body) {
  for_each_vector(
      channels,
      [&](Index c) HWY_ATTR {
        body(
            c, [](const Real* from) HWY_ATTR { return load(from); },
            [](V value, Real* to) HWY_ATTR { store(value, to); });
      },
      [&](Index c, Index rest) HWY_ATTR {
        body(
            c, [rest](const Real* from) HWY_ATTR { return load_part(from, rest); },
            [rest](V value, Real* to) HWY_ATTR { store_part(value, to, rest); });
      });
}

void max_rows(const PoolSizes& s, Index begin, Index end, const Real* x, Real* y) {
  const Index n = s.channels;
  for_each_window(s, begin, end, [&](Index output, const Patch& patch) HWY_ATTR {
    for_each_channel(n, [&](Index c, const auto& get, const auto& put) HWY_ATTR {
      V best = get(x + patch.first * n + c);
      patch.for_each_pixel([&](Index pixel) HWY_ATTR {
        const V v = get(x + pixel * n + c);
        best = hn::IfThenElse(hn::Or(hn::Gt(v, best), hn::IsNaN(v)), v, best);
      });
      put(best, y + output * n + c);
    });
  });
}

void mean_rows(const PoolSizes& s, Index begin, Index end, const Real* x, Real* y) {
  const Index n = s.channels;
  for_each_window(s, begin, end, [&](Index output, const Patch& patch) HWY_ATTR {
    const V share = set(1.0 / static_cast<double>(patch.pixels()));
    for_each_channel(n, [&](Index c, const auto& get, const auto& put) HWY_ATTR {
      V sum = set(0);
      patch.for_each_pixel([&](Index pixel) HWY_ATTR { sum = hn::Add(sum, get(x + pixel * n + c)); });
      put(hn::Mul(sum, share), y + output * n + c);
    });
  });
}

void max_rows_backward(const PoolSizes& s, Index begin, Index end, const Real* dy, const Real* x, const Real* y,
                       Real* dx) {
  const Index n = s.channels;
  for_each_window(s, begin, end, [&](Index output, const Patch& patch) HWY_ATTR {
    for_each_channel(n, [&](Index c, const auto& get, const auto& put) HWY_ATTR {
      const V largest = get(y + output * n + c);
      V left = get(dy + output * n + c);  // what no pixel has taken yet
      patch.for_each_pixel([&](Index pixel) HWY_ATTR {
        const Index at = pixel * n + c;
        const M wins = hn::Eq(get(x + at), largest);
        put(hn::Add(get(dx + at), hn::IfThenElseZero(wins, left)), dx + at);
        left = hn::IfThenZeroElse(wins, left);
      });
    });
  });
}

void mean_rows_backward(const PoolSizes& s, Index begin, Index end, const Real* dy, Real* dx) {
  const Index n = s.channels;
  for_each_window(s, begin, end, [&](Index output, const Patch& patch) HWY_ATTR {
    const V share = set(1.0 / static_cast<double>(patch.pixels()));
    for_each_channel(n, [&](Index c, const auto& get, const auto& put) HWY_ATTR {
      const V part = hn::Mul(get(dy + output * n + c), share);
      patch.for_each_pixel([&](Index pixel) HWY_ATTR {
        const Index at = pixel * n + c;
        put(hn::Add(get(dx + at), part), dx + at);
      });
    });
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

constexpr Index kGrain = 32 * 1024;  // numbers read that are worth a thread

Index numbers_a_row(const PoolSizes& s) {
  const Index window = std::min(s.height.kernel, s.height.input) * std::min(s.width.kernel, s.width.input);
  return std::max<Index>(1, s.width.output * window * s.channels);
}

// Output rows are independent.
template <class Body>
void forward(const PoolSizes& s, const Body& body) {
  parallel_for(s.batch * s.height.output, std::max<Index>(1, kGrain / numbers_a_row(s)), body);
}

// Windows of one image may overlap, so an image belongs to one thread, which adds to zeros.
template <class Body>
void backward(const PoolSizes& s, Real* dx, const Body& body) {
  const Index image = s.height.input * s.width.input * s.channels, rows = s.height.output;
  parallel_for(s.batch, std::max<Index>(1, kGrain / (rows * numbers_a_row(s))), [&](Index begin, Index end) {
    std::fill(dx + begin * image, dx + end * image, Real{0});
    body(begin * rows, end * rows);
  });
}

}  // namespace

HWY_EXPORT(max_rows);
HWY_EXPORT(mean_rows);
HWY_EXPORT(max_rows_backward);
HWY_EXPORT(mean_rows_backward);

void max_pool(const PoolSizes& s, const Real* x, Real* y) {
  forward(s, [&](Index begin, Index end) { HWY_DYNAMIC_DISPATCH(max_rows)(s, begin, end, x, y); });
}
void max_pool_backward(const PoolSizes& s, const Real* dy, const Real* x, const Real* y, Real* dx) {
  backward(s, dx, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(max_rows_backward)(s, begin, end, dy, x, y, dx);
  });
}
void mean_pool(const PoolSizes& s, const Real* x, Real* y) {
  forward(s, [&](Index begin, Index end) { HWY_DYNAMIC_DISPATCH(mean_rows)(s, begin, end, x, y); });
}
void mean_pool_backward(const PoolSizes& s, const Real* dy, Real* dx) {
  backward(s, dx, [&](Index begin, Index end) { HWY_DYNAMIC_DISPATCH(mean_rows_backward)(s, begin, end, dy, dx); });
}

}  // namespace heed::kernels
#endif
