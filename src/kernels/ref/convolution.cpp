#include "heed/kernels/ref/convolution.h"

namespace heed::kernels::ref {
namespace {

bool real(const Window& axis, Index position) { return position >= 0 && position < axis.input; }

// The output whose tap k reads `position`, or -1.
Index output_of(const Window& axis, Index position, Index tap) {
  const Index distance = position + axis.before - tap * axis.dilation;
  if (distance < 0 || distance % axis.stride != 0 || distance / axis.stride >= axis.output) return -1;
  return distance / axis.stride;
}

// Where the channels of a pixel or a tap stand.
Index at_input(const Conv2dSizes& s, Index b, Index p, Index q) {
  return ((b * s.height.input + p) * s.width.input + q) * s.in;
}
Index at_output(const Conv2dSizes& s, Index b, Index i, Index j) {
  return ((b * s.height.output + i) * s.width.output + j) * s.out;
}
Index at_weight(const Conv2dSizes& s, Index k, Index l, Index c) {
  return ((k * s.width.kernel + l) * s.in + c) * s.out;
}

double product(Real a, Real b) { return static_cast<double>(a) * static_cast<double>(b); }

Conv2dSizes one_row(const Conv1dSizes& s) { return {s.batch, {}, s.time, s.in, s.out}; }

}  // namespace

void conv2d(const Conv2dSizes& s, const Real* x, const Real* w, const Real* bias, Real* y) {
  for (Index b = 0; b < s.batch; ++b)
    for (Index i = 0; i < s.height.output; ++i)
      for (Index j = 0; j < s.width.output; ++j)
        for (Index f = 0; f < s.out; ++f) {
          double sum = bias ? static_cast<double>(bias[f]) : 0;
          for (Index k = 0; k < s.height.kernel; ++k)
            for (Index l = 0; l < s.width.kernel; ++l) {
              const Index p = s.height.position(i, k), q = s.width.position(j, l);
              if (!real(s.height, p) || !real(s.width, q)) continue;
              for (Index c = 0; c < s.in; ++c)
                sum += product(x[at_input(s, b, p, q) + c], w[at_weight(s, k, l, c) + f]);
            }
          y[at_output(s, b, i, j) + f] = static_cast<Real>(sum);
        }
}

void conv2d_input_gradient(const Conv2dSizes& s, const Real* dy, const Real* w, Real* dx) {
  for (Index b = 0; b < s.batch; ++b)
    for (Index p = 0; p < s.height.input; ++p)
      for (Index q = 0; q < s.width.input; ++q)
        for (Index c = 0; c < s.in; ++c) {
          double sum = 0;
          for (Index k = 0; k < s.height.kernel; ++k)
            for (Index l = 0; l < s.width.kernel; ++l) {
              const Index i = output_of(s.height, p, k), j = output_of(s.width, q, l);
              if (i < 0 || j < 0) continue;
              for (Index f = 0; f < s.out; ++f)
                sum += product(dy[at_output(s, b, i, j) + f], w[at_weight(s, k, l, c) + f]);
            }
          dx[at_input(s, b, p, q) + c] = static_cast<Real>(sum);
        }
}

void conv2d_weight_gradient(const Conv2dSizes& s, const Real* x, const Real* dy, Real* dw) {
  for (Index k = 0; k < s.height.kernel; ++k)
    for (Index l = 0; l < s.width.kernel; ++l)
      for (Index c = 0; c < s.in; ++c)
        for (Index f = 0; f < s.out; ++f) {
          double sum = 0;
          for (Index b = 0; b < s.batch; ++b)
            for (Index i = 0; i < s.height.output; ++i)
              for (Index j = 0; j < s.width.output; ++j) {
                const Index p = s.height.position(i, k), q = s.width.position(j, l);
                if (!real(s.height, p) || !real(s.width, q)) continue;
                sum += product(x[at_input(s, b, p, q) + c], dy[at_output(s, b, i, j) + f]);
              }
          dw[at_weight(s, k, l, c) + f] = static_cast<Real>(sum);
        }
}

void conv1d(const Conv1dSizes& s, const Real* x, const Real* w, const Real* bias, Real* y) {
  conv2d(one_row(s), x, w, bias, y);
}
void conv1d_input_gradient(const Conv1dSizes& s, const Real* dy, const Real* w, Real* dx) {
  conv2d_input_gradient(one_row(s), dy, w, dx);
}
void conv1d_weight_gradient(const Conv1dSizes& s, const Real* x, const Real* dy, Real* dw) {
  conv2d_weight_gradient(one_row(s), x, dy, dw);
}

}  // namespace heed::kernels::ref
