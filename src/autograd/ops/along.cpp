#include "heed/autograd/ops/along.h"

namespace heed {
namespace {

void check(const char* op, const Ids& ids, Index classes) {
  for (const std::int32_t id : ids.values())
    require(id >= 0 && id < classes, "[{}] position {} is outside 0..{}", op, id, classes - 1);
}

Tensor taken(const Tensor& x, const Ids& ids) {
  const Index n = ids.size(0), m = ids.size(1), classes = x.size(-1),
              blocks = x.size() / std::max<Index>(n * classes, 1);
  Tensor y(x.shape().with(-1, m));
  for (Index block = 0; block < blocks; ++block)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j)
        y.data()[(block * n + i) * m + j] = x.data()[(block * n + i) * classes + ids.data()[i * m + j]];
  return y;
}

Tensor summed(const Tensor& x, const Ids& ids, Index classes) {
  const Index n = ids.size(0), m = ids.size(1), blocks = x.size() / std::max<Index>(n * m, 1);
  Tensor y(x.shape().with(-1, classes), Real{0});
  for (Index block = 0; block < blocks; ++block)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j)
        y.data()[(block * n + i) * classes + ids.data()[i * m + j]] += x.data()[(block * n + i) * m + j];
  return y;
}

}  // namespace

Var take_along(const Var& x, const Ids& ids) {
  require(x.rank() >= 2 && ids.rank() == 2 && ids.size(0) == x.size(-2), "[take_along] ids {} do not fit {}",
          ids.shape(), x.shape());
  const Ids positions = ids.contiguous();
  check("take_along", positions, x.size(-1));
  return record("take_along", taken(x.value().contiguous(), positions), {x},
                [positions, classes = x.size(-1)](const Tensor& dy) { return grads(summed(dy, positions, classes)); });
}

Var sum_along(const Var& x, const Ids& ids, Index classes) {
  require(x.rank() >= 2 && ids.rank() == 2 && ids.size(0) == x.size(-2) && ids.size(1) == x.size(-1),
          "[sum_along] ids {} do not fit {}", ids.shape(), x.shape());
  const Ids positions = ids.contiguous();
  check("sum_along", positions, classes);
  return record("sum_along", summed(x.value().contiguous(), positions, classes), {x},
                [positions](const Tensor& dy) { return grads(taken(dy, positions)); });
}

}  // namespace heed
