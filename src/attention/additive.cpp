#include "heed/attention/additive.h"

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"

namespace heed {

Var additive_scores_composed(const Var& queries, const Var& keys, const Var& v) {
  const Shape &q = queries.shape(), &k = keys.shape();
  require(q.rank() == 4 && k.rank() == 4 && q[0] == k[0] && q[1] == k[1] && q[3] == k[3] && v.shape() == Shape{q[3]},
          "[additive] queries {}, keys {} and weights {} do not fit", q.text(), k.text(), v.shape().text());
  const Var left = reshape(queries, Shape{q[0], q[1], q[2], 1, q[3]});
  const Var right = reshape(keys, Shape{k[0], k[1], 1, k[2], k[3]});
  const Var e = matmul(tanh(left + right), reshape(v, Shape{q[3], 1}));  // [batch, heads, n, m, 1]
  return reshape(e, Shape{q[0], q[1], q[2], k[2]});
}

}  // namespace heed
