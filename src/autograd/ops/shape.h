#pragma once

#include <span>
#include <vector>

#include "heed/autograd/var.h"

namespace heed {

Var reshape(const Var& x, const Shape& shape);
// Views: no numbers move until someone needs them in order.
Var transpose(const Var& x, int first, int second);
// Positions [begin, end) of one axis.
Var slice(const Var& x, int axis, Index begin, Index end);
// One position of an axis, which disappears.
Var at(const Var& x, int axis, Index position);
// Pieces of the given sizes along one axis; together they are the whole axis.
std::vector<Var> split(const Var& x, int axis, std::span<const Index> sizes);

Var concat(std::span<const Var> parts, int axis);
inline Var concat(std::initializer_list<Var> parts, int axis) {
  return concat(std::span<const Var>(parts.begin(), parts.size()), axis);
}
// Joins equal shapes along a new axis.
Var stack(std::span<const Var> parts, int axis);
// `before` and `after` positions of `value` around one axis.
Var pad(const Var& x, int axis, Index before, Index after, Real value = 0);
// The positions `ids` [k] of one axis, in that order; repeats allowed.
Var gather(const Var& x, int axis, const Ids& ids);
// One element of the last axis per row: x [..., n], ids [...] → [...].
Var pick(const Var& x, const Ids& ids);
// Repeats axes of size 1 and missing leading axes, without copying.
Var expand(const Var& x, const Shape& shape);

}  // namespace heed
