#include "heed/kernels/ref/pooling.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::kernels::ref {
namespace {

// Calls body(output, inputs) for every output element with the positions of the real elements of its window, in order.
template <class Body>
void for_each_output(const PoolSizes& s, const Body& body) {
  std::vector<Index> inputs;
  for (Index b = 0; b < s.batch; ++b)
    for (Index i = 0; i < s.height.output; ++i)
      for (Index j = 0; j < s.width.output; ++j)
        for (Index c = 0; c < s.channels; ++c) {
          inputs.clear();
          for (Index k = 0; k < s.height.kernel; ++k)
            for (Index l = 0; l < s.width.kernel; ++l) {
              const Index p = s.height.position(i, k), q = s.width.position(j, l);
              if (p < 0 || p >= s.height.input || q < 0 || q >= s.width.input) continue;
              inputs.push_back(((b * s.height.input + p) * s.width.input + q) * s.channels + c);
            }
          body(((b * s.height.output + i) * s.width.output + j) * s.channels + c, inputs);
        }
}

// Adds the shares of dx in double and rounds once.
template <class Share>
void gather(const PoolSizes& s, Real* dx, const Share& share) {
  std::vector<double> sums(static_cast<std::size_t>(s.batch * s.height.input * s.width.input * s.channels));
  for_each_output(s, [&](Index output, const std::vector<Index>& inputs) { share(output, inputs, sums); });
  std::transform(sums.begin(), sums.end(), dx, [](double sum) { return static_cast<Real>(sum); });
}

}  // namespace

void max_pool(const PoolSizes& s, const Real* x, Real* y) {
  for_each_output(s, [&](Index output, const std::vector<Index>& inputs) {
    Real best = x[inputs.front()];
    for (const Index input : inputs)
      if (x[input] > best || std::isnan(x[input])) best = x[input];
    y[output] = best;
  });
}

void max_pool_backward(const PoolSizes& s, const Real* dy, const Real* x, const Real* y, Real* dx) {
  gather(s, dx, [&](Index output, const std::vector<Index>& inputs, std::vector<double>& sums) {
    const auto winner = std::find_if(inputs.begin(), inputs.end(), [&](Index input) { return x[input] == y[output]; });
    if (winner != inputs.end()) sums[static_cast<std::size_t>(*winner)] += static_cast<double>(dy[output]);
  });
}

void mean_pool(const PoolSizes& s, const Real* x, Real* y) {
  for_each_output(s, [&](Index output, const std::vector<Index>& inputs) {
    double sum = 0;
    for (const Index input : inputs) sum += static_cast<double>(x[input]);
    y[output] = static_cast<Real>(sum / static_cast<double>(inputs.size()));
  });
}

void mean_pool_backward(const PoolSizes& s, const Real* dy, Real* dx) {
  gather(s, dx, [&](Index output, const std::vector<Index>& inputs, std::vector<double>& sums) {
    for (const Index input : inputs)
      sums[static_cast<std::size_t>(input)] += static_cast<double>(dy[output]) / static_cast<double>(inputs.size());
  });
}

}  // namespace heed::kernels::ref
