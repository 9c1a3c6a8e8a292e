#include "heed/train/clip.h"

#include <cmath>

#include "heed/base/threads.h"
#include "heed/kernels/elementwise.h"
#include "heed/train/rows.h"

namespace heed {
namespace {

void check(double norm, const char* field, double limit) {
  require(limit > 0 && std::isfinite(limit), "[clip] {} must be above 0 and finite, not {}", field, limit);
  require(norm >= 0 && std::isfinite(norm), "[clip] the gradient norm is {}", norm);
}

}  // namespace

double global_norm(const Gradients& gradients, const Parameters& parameters) {
  constexpr Index kBlock = 32 * 1024;
  struct Block {
    const Real* data;
    Index size;
    double sum;
  };
  std::vector<Tensor> alive;
  std::vector<Block> blocks;
  for (const Parameters::Entry& entry : parameters.entries()) {
    const Gradient* gradient = gradients.find(entry.var);
    if (!gradient || gradient->empty()) continue;
    const Tensor& value = entry.var.value();
    const Tensor tensor =
        gradient->sparse()
            ? merged_rows(*gradient, value.size(0), value.size() / std::max<Index>(value.size(0), 1), "clip").rows
            : gradient->to_dense(value.shape()).contiguous();
    for (Index begin = 0; begin < tensor.size(); begin += kBlock)
      blocks.push_back({tensor.data() + begin, std::min(kBlock, tensor.size() - begin), 0});
    alive.push_back(tensor);
  }
  parallel_for(static_cast<Index>(blocks.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Block& block = blocks[static_cast<std::size_t>(i)];
      block.sum = kernels::sum_of_squares(block.size, block.data);
    }
  });
  double total = 0;
  for (const Block& block : blocks) total += block.sum;
  return std::sqrt(total);
}

Real clip_factor(double norm, double max_norm) {
  check(norm, "max_norm", max_norm);
  return norm > max_norm ? static_cast<Real>(max_norm / norm) : Real{1};
}

Real renormalise_factor(double norm, double target) {
  check(norm, "the target norm", target);
  return norm > 0 ? static_cast<Real>(target / norm) : Real{1};
}

}  // namespace heed
