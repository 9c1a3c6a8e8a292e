#include "heed/autograd/ops/embedding.h"

#include "heed/autograd/ops/matrix.h"
#include "heed/base/threads.h"
#include "heed/kernels/random.h"

namespace heed {

Var embedding(const Var& table, const Ids& ids, const Tensor& frozen) {
  require(table.rank() == 2, "[embedding] the table is a matrix, not shape {}", table.shape());
  const Index vocabulary = table.size(0), width = table.size(1);
  require(!frozen || frozen.shape() == Shape{vocabulary}, "[embedding] marks {} do not fit a table of {} rows",
          frozen.shape(), vocabulary);
  const Ids rows = ids.contiguous();
  for (const std::int32_t id : rows.values())
    require(id >= 0 && id < vocabulary, "[embedding] id {} is outside the vocabulary of {}", id, vocabulary);
  const Int8Weight* const int8 = int8_factor(table, {.b = true});
  const Tensor from = int8 ? Tensor() : table.value().contiguous();
  Tensor y(ids.shape().append(width));
  parallel_for(rows.size(), std::max<Index>(1, 32768 / std::max<Index>(width, 1)), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Real* const to = y.data() + i * width;
      if (int8)
        int8->copy_output(rows.data()[i], to);
      else
        std::copy_n(from.data() + rows.data()[i] * width, width, to);
    }
  });
  return record("embedding", y, {table}, [rows, width, frozen](const Tensor& dy) {
    const Index n = rows.size();
    if (!frozen) return grads(Gradient::of_rows(rows.reshape(Shape{n}), dy.reshape(Shape{n, width})));
    const Tensor whole = dy.contiguous();
    const auto moves = [&](std::int32_t id) { return frozen.data()[id] == Real{0}; };
    const auto count = static_cast<Index>(std::count_if(rows.values().begin(), rows.values().end(), moves));
    Ids touched(Shape{count});
    Tensor kept(Shape{count, width});
    for (Index i = 0, next = 0; i < n; ++i) {
      if (!moves(rows.data()[i])) continue;
      touched.data()[next] = rows.data()[i];
      std::copy_n(whole.data() + i * width, width, kept.data() + next++ * width);
    }
    return grads(Gradient::of_rows(touched, kept));
  });
}

Var dropout(const Var& x, double rate, RandomKey key) {
  require(rate >= 0 && rate < 1, "[dropout] the rate {} is outside [0, 1)", rate);
  if (rate == 0) return x;
  const auto masked = [rate = static_cast<Real>(rate), key](const Tensor& from) {
    Tensor to(from.shape());
    kernels::dropout(from.size(), rate, key, from.data(), to.data());
    return to;
  };
  return record("dropout", masked(x.value().contiguous()), {x},
                [masked](const Tensor& dy) { return grads(masked(dy)); });
}

}  // namespace heed
