#include "heed/kernels/ref/depthwise.h"

#include <algorithm>
#include <vector>

namespace heed::kernels::ref {
namespace {

// Calls body(output, input, weight) with the places of every product of the convolution.
template <class Body>
void for_each_product(const DepthwiseSizes& s, const Body& body) {
  for (Index b = 0; b < s.batch; ++b)
    for (Index i = 0; i < s.height.output; ++i)
      for (Index j = 0; j < s.width.output; ++j)
        for (Index k = 0; k < s.height.kernel; ++k)
          for (Index l = 0; l < s.width.kernel; ++l) {
            const Index p = s.height.position(i, k), q = s.width.position(j, l);
            if (p < 0 || p >= s.height.input || q < 0 || q >= s.width.input) continue;
            for (Index c = 0; c < s.channels; ++c)
              body(((b * s.height.output + i) * s.width.output + j) * s.channels + c,
                   ((b * s.height.input + p) * s.width.input + q) * s.channels + c,
                   (k * s.width.kernel + l) * s.channels + c);
          }
}

// What a sum in double leaves in Real.
struct Sums {
  explicit Sums(Index size) : all(static_cast<std::size_t>(size), 0.0) {}
  void add(Index at, Real a, Real b) {
    all[static_cast<std::size_t>(at)] += static_cast<double>(a) * static_cast<double>(b);
  }
  void give(Real* to) const {
    std::transform(all.begin(), all.end(), to, [](double sum) { return static_cast<Real>(sum); });
  }
  std::vector<double> all;
};

}  // namespace

void depthwise(const DepthwiseSizes& s, const Real* x, const Real* w, const Real* bias, Real* y) {
  Sums sums(s.batch * s.height.output * s.width.output * s.channels);
  for_each_product(s, [&](Index out, Index in, Index tap) { sums.add(out, x[in], w[tap]); });
  if (bias)
    for (std::size_t i = 0; i < sums.all.size(); ++i)
      sums.all[i] += static_cast<double>(bias[i % static_cast<std::size_t>(s.channels)]);
  sums.give(y);
}

void depthwise_input_gradient(const DepthwiseSizes& s, const Real* dy, const Real* w, Real* dx) {
  Sums sums(s.batch * s.height.input * s.width.input * s.channels);
  for_each_product(s, [&](Index out, Index in, Index tap) { sums.add(in, dy[out], w[tap]); });
  sums.give(dx);
}

void depthwise_weight_gradient(const DepthwiseSizes& s, const Real* x, const Real* dy, Real* dw) {
  Sums sums(s.height.kernel * s.width.kernel * s.channels);
  for_each_product(s, [&](Index out, Index in, Index tap) { sums.add(tap, x[in], dy[out]); });
  sums.give(dw);
}

}  // namespace heed::kernels::ref
