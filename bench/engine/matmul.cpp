// The matrix product as an op, and the same product by calling oneDNN with nothing around it.
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include "engine/case.h"
#include "heed/autograd/ops/matrix.h"

namespace heed::bench {
namespace {

struct Sizes {
  Index m, n, k;
};

Step product(Sizes sizes) {
  const Tensor a = filled({sizes.m, sizes.k}, 1), b = filled({sizes.k, sizes.n}, 2);
  return [=](Results* results) {
    const NoGradient no_gradient;
    const Var c = matmul(a, b);
    if (results) *results = {{"c", c.value()}};
  };
}

Step bare_product(Sizes sizes) {
  const auto [m, n, k] = sizes;
  const Tensor a = filled({m, k}, 1), b = filled({k, n}, 2);
  Tensor c({m, n});
  return [=](Results* results) mutable {
    const dnnl_status_t status = dnnl_sgemm('N', 'N', m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n);
    require(status == dnnl_success, "[bench] dnnl_sgemm answered {}", static_cast<int>(status));
    if (results) *results = {{"c", c}};
  };
}

// Square in and out of cache, a feed-forward layer, a projection, one step of a recurrent layer.
constexpr Sizes kSizes[] = {{256, 256, 256}, {1024, 1024, 1024}, {2048, 2048, 512}, {4096, 256, 256}, {64, 2048, 512}};

const bool registered = [] {
  for (const Sizes sizes : kSizes) {
    const std::string name = fmt::format("matmul-{}x{}x{}", sizes.m, sizes.n, sizes.k);
    cases()[name] = [sizes] { return product(sizes); };
    cases()["bare-" + name] = [sizes] { return bare_product(sizes); };
  }
  return true;
}();

}  // namespace
}  // namespace heed::bench
