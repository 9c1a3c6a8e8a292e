#include "heed/kernels/depthwise.h"

#include <algorithm>

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/depthwise.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Σ_t a_t[c] b_t[c] for n channels c, added to a sum in the order in which the factors come. So many of them wait that
// the sum is in registers meanwhile.
class ProductSum {
 public:
  ProductSum(Index n, Real* sum) : n_(n), sum_(sum) {}
  HWY_INLINE void add(const Real* a, const Real* b) {
    if (waiting_ == kMost) flush();
    a_[waiting_] = a, b_[waiting_] = b;
    ++waiting_;
  }
  HWY_INLINE void flush() {
    const Index width = lanes();
    Index c = 0;
    for (; c + 4 * width <= n_; c += 4 * width) {
      V s0 = load(sum_ + c), s1 = load(sum_ + c + width), s2 = load(sum_ + c + 2 * width),
        s3 = load(sum_ + c + 3 * width);
      for (Index t = 0; t < waiting_; ++t) {
        const Real *const a = a_[t] + c, *const b = b_[t] + c;
        s0 = hn::MulAdd(load(a), load(b), s0);
        s1 = hn::MulAdd(load(a + width), load(b + width), s1);
        s2 = hn::MulAdd(load(a + 2 * width), load(b + 2 * width), s2);
        s3 = hn::MulAdd(load(a + 3 * width), load(b + 3 * width), s3);
      }
      store(s0, sum_ + c), store(s1, sum_ + c + width), store(s2, sum_ + c + 2 * width),
          store(s3, sum_ + c + 3 * width);
    }
    for (; c + width <= n_; c += width) {
      V s = load(sum_ + c);
      for (Index t = 0; t < waiting_; ++t) s = hn::MulAdd(load(a_[t] + c), load(b_[t] + c), s);
      store(s, sum_ + c);
    }
    if (const Index rest = n_ - c; rest > 0) {
      V s = load_part(sum_ + c, rest);
      for (Index t = 0; t < waiting_; ++t) s = hn::MulAdd(load_part(a_[t] + c, rest), load_part(b_[t] + c, rest), s);
      store_part(s, sum_ + c, rest);
    }
    waiting_ = 0;
  }

 private:
  static constexpr Index kMost = 32;
  const Index n_;
  Real* const sum_;
  Index waiting_ = 0;
  const Real *a_[kMost], *b_[kMost];
};

// Output rows [begin, end), counted over the whole batch.
void output_rows(const DepthwiseSizes& s, Index begin, Index end, const Real* x, const Real* w, const Real* bias,
                 Real* y) {
  const Index n = s.channels;
  for (Index row = begin; row < end; ++row) {
    const Index image = row / s.height.output, i = row % s.height.output;
    const auto vertical = s.height.inside(i);
    for (Index j = 0; j < s.width.output; ++j) {
      const auto horizontal = s.width.inside(j);
      Real* const sum = y + (row * s.width.output + j) * n;
      if (bias)
        std::copy_n(bias, n, sum);
      else
        std::fill_n(sum, n, Real{0});
      ProductSum products(n, sum);
      for (Index k = vertical.begin; k < vertical.end; ++k)
        for (Index l = horizontal.begin; l < horizontal.end; ++l)
          products.add(
              x + ((image * s.height.input + s.height.position(i, k)) * s.width.input + s.width.position(j, l)) * n,
              w + (k * s.width.kernel + l) * n);
      products.flush();
    }
  }
}

// The output whose tap k reads `position`, or -1.
HWY_INLINE Index output_that_reads(const Window& axis, Index position, Index tap) {
  const Index distance = position + axis.before - tap * axis.dilation;
  return distance < 0 || distance % axis.stride != 0 || distance / axis.stride >= axis.output ? -1
                                                                                              : distance / axis.stride;
}

// Input rows [begin, end), counted over the whole batch.
void input_rows(const DepthwiseSizes& s, Index begin, Index end, const Real* dy, const Real* w, Real* dx) {
  const Index n = s.channels;
  for (Index row = begin; row < end; ++row) {
    const Index image = row / s.height.input, p = row % s.height.input;
    for (Index q = 0; q < s.width.input; ++q) {
      Real* const sum = dx + (row * s.width.input + q) * n;
      std::fill_n(sum, n, Real{0});
      ProductSum products(n, sum);
      for (Index k = 0; k < s.height.kernel; ++k) {
        const Index i = output_that_reads(s.height, p, k);
        for (Index l = 0; i >= 0 && l < s.width.kernel; ++l)
          if (const Index j = output_that_reads(s.width, q, l); j >= 0)
            products.add(dy + ((image * s.height.output + i) * s.width.output + j) * n,
                         w + (k * s.width.kernel + l) * n);
      }
      products.flush();
    }
  }
}

// Taps [begin, end): each is a sum over all images and outputs. Row after row, so that all taps find a row in the
// cache.
void taps(const DepthwiseSizes& s, Index begin, Index end, const Real* x, const Real* dy, Real* dw) {
  const Index n = s.channels;
  std::fill_n(dw + begin * n, (end - begin) * n, Real{0});
  for (Index row = 0; row < s.batch * s.height.output; ++row) {
    const Index image = row / s.height.output, i = row % s.height.output;
    for (Index tap = begin; tap < end; ++tap) {
      const Index p = s.height.position(i, tap / s.width.kernel);
      if (p < 0 || p >= s.height.input) continue;
      ProductSum products(n, dw + tap * n);
      for (Index j = 0; j < s.width.output; ++j) {
        const Index q = s.width.position(j, tap % s.width.kernel);
        if (q >= 0 && q < s.width.input)
          products.add(x + ((image * s.height.input + p) * s.width.input + q) * n, dy + (row * s.width.output + j) * n);
      }
      products.flush();
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(output_rows);
HWY_EXPORT(input_rows);
HWY_EXPORT(taps);

namespace {
// Rows of so many numbers, each summed over a kernel, that are worth a thread.
Index rows_of_thread(const DepthwiseSizes& s, Index width) {
  return 1 + 32 * 1024 / std::max<Index>(1, width * s.channels * s.height.kernel * s.width.kernel);
}
}  // namespace

void depthwise(const DepthwiseSizes& s, const Real* x, const Real* w, const Real* bias, Real* y) {
  parallel_for(s.batch * s.height.output, rows_of_thread(s, s.width.output), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(output_rows)(s, begin, end, x, w, bias, y);
  });
}

void depthwise_input_gradient(const DepthwiseSizes& s, const Real* dy, const Real* w, Real* dx) {
  parallel_for(s.batch * s.height.input, rows_of_thread(s, s.width.input), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(input_rows)(s, begin, end, dy, w, dx);
  });
}

void depthwise_weight_gradient(const DepthwiseSizes& s, const Real* x, const Real* dy, Real* dw) {
  parallel_for(s.height.kernel * s.width.kernel, 1, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(taps)(s, begin, end, x, dy, dw);
  });
}

}  // namespace heed::kernels
#endif
