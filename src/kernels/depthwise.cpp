#include "heed/kernels/depthwise.h"

#include <algorithm>

#include "heed/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/depthwise.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// sum[c] += a[c] b[c]
HWY_INLINE void add_product(Index n, const Real* a, const Real* b, Real* sum) {
  for_each_vector(
      n, [&](Index c) HWY_ATTR { store(hn::MulAdd(load(a + c), load(b + c), load(sum + c)), sum + c); },
      [&](Index c, Index rest) HWY_ATTR {
        store_part(hn::MulAdd(load_part(a + c, rest), load_part(b + c, rest), load_part(sum + c, rest)), sum + c, rest);
      });
}

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
      for (Index k = vertical.begin; k < vertical.end; ++k)
        for (Index l = horizontal.begin; l < horizontal.end; ++l)
          add_product(
              n, x + ((image * s.height.input + s.height.position(i, k)) * s.width.input + s.width.position(j, l)) * n,
              w + (k * s.width.kernel + l) * n, sum);
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
      for (Index k = 0; k < s.height.kernel; ++k) {
        const Index i = output_that_reads(s.height, p, k);
        for (Index l = 0; i >= 0 && l < s.width.kernel; ++l)
          if (const Index j = output_that_reads(s.width, q, l); j >= 0)
            add_product(n, dy + ((image * s.height.output + i) * s.width.output + j) * n,
                        w + (k * s.width.kernel + l) * n, sum);
      }
    }
  }
}

// Taps [begin, end): each is a sum over all images and outputs.
void taps(const DepthwiseSizes& s, Index begin, Index end, const Real* x, const Real* dy, Real* dw) {
  const Index n = s.channels;
  for (Index tap = begin; tap < end; ++tap) {
    const Index k = tap / s.width.kernel, l = tap % s.width.kernel;
    Real* const sum = dw + tap * n;
    std::fill_n(sum, n, Real{0});
    for (Index row = 0; row < s.batch * s.height.output; ++row) {
      const Index image = row / s.height.output, p = s.height.position(row % s.height.output, k);
      if (p < 0 || p >= s.height.input) continue;
      for (Index j = 0; j < s.width.output; ++j) {
        const Index q = s.width.position(j, l);
        if (q >= 0 && q < s.width.input)
          add_product(n, x + ((image * s.height.input + p) * s.width.input + q) * n,
                      dy + (row * s.width.output + j) * n, sum);
      }
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
