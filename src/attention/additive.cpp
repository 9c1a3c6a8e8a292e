#include "heed/attention/additive.h"

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/kernels/additive.h"

namespace heed {
namespace {

void check_shapes(const Shape& q, const Shape& k, const Shape& v) {
  require(q.rank() == 4 && k.rank() == 4 && q[0] == k[0] && q[1] == k[1] && q[3] == k[3] && v == Shape{q[3]},
          "[additive] queries {}, keys {} and weights {} do not fit", q, k, v);
}

void check_lengths(const Ids& lengths, Index batch, Index m) {
  require(lengths.shape() == Shape{batch}, "[additive] lengths {} do not fit a batch of {}", lengths.shape(), batch);
  for (Index b = 0; b < batch; ++b)
    require(lengths.at({b}) >= 0 && lengths.at({b}) <= m, "[additive] a length of {} is outside 0..{}", lengths.at({b}),
            m);
}

void check_features(const KeyFeatures& features, const Shape& keys) {
  const Shape &f = features.values.shape(), &map = features.map.shape();
  require(f.rank() == 4 && map.rank() == 2 && f.leading(3) == keys.leading(3) && f[3] == map[0] && map[1] == keys[3],
          "[additive] features {} and their map {} do not fit keys {}", f, map, keys);
}

}  // namespace

Var additive_scores(const Var& queries, const Var& keys, const Var& v, const Ids& lengths,
                    const KeyFeatures& features) {
  check_shapes(queries.shape(), keys.shape(), v.shape());
  const Shape &q = queries.shape(), &k = keys.shape();
  if (lengths) check_lengths(lengths, q[0], k[2]);
  if (features.values) check_features(features, k);
  const kernels::AdditiveSize size{q[0], q[1], q[2], k[2], q[3], features.values ? features.map.size(0) : 0};
  const Tensor left = queries.value().contiguous(), right = keys.value().contiguous(), weights = v.value().contiguous();
  const Ids until = lengths ? lengths.contiguous() : lengths;
  const Tensor f = features.values.value().contiguous(), u = features.map.value().contiguous();
  const auto inputs = [=] {
    return kernels::AdditiveInputs{left.data(), right.data(), weights.data(), until ? until.data() : nullptr,
                                   f.data(),    u.data()};
  };
  Tensor e(Shape{q[0], q[1], q[2], k[2]});
  kernels::additive_scores(size, inputs(), e.data());
  const auto closure = [size, inputs, q, k, features = f.shape(), map = u.shape()](const Tensor& dy, Wanted wanted) {
    // The keys' gradient is as large as the keys; the steps of a decoder add to one of them.
    Tensor dk = wanted.taken(1);
    const bool adds = static_cast<bool>(dk);
    if (!adds) dk = Tensor(k);
    Tensor dq(q), dv(Shape{size.width}), dv_each(Shape{size.pairs(), size.width}), df, du, du_each;
    if (size.features > 0)
      df = Tensor(features), du = Tensor(map), du_each = Tensor(Shape{size.pairs(), size.features, size.width});
    kernels::additive_scores_backward(
        size, inputs(), dy.contiguous().data(),
        {dq.data(), dk.data(), dv.data(), dv_each.data(), adds, df.data(), du.data(), du_each.data()});
    return grads(dq, dk, dv, df, du);
  };
  return record("additive_scores", e, {queries, keys, v, features.values, features.map}, closure);
}

Var additive_scores_composed(const Var& queries, const Var& keys, const Var& v, const KeyFeatures& features) {
  check_shapes(queries.shape(), keys.shape(), v.shape());
  const Shape &q = queries.shape(), &k = keys.shape();
  const Var moved = features.values ? keys + matmul(features.values, features.map) : keys;
  const Var left = reshape(queries, Shape{q[0], q[1], q[2], 1, q[3]});
  const Var right = reshape(moved, Shape{k[0], k[1], 1, k[2], k[3]});
  const Var e = matmul(tanh(left + right), reshape(v, Shape{q[3], 1}));  // [batch, heads, n, m, 1]
  return reshape(e, Shape{q[0], q[1], q[2], k[2]});
}

}  // namespace heed
