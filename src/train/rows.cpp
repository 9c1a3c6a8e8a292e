#include "heed/train/rows.h"

#include <algorithm>
#include <functional>

namespace heed {

RowGradient merged_rows(const Gradient& gradient, Index rows, Index width, const char* who) {
  for (const RowGradient& part : gradient.rows())
    require(part.rows.rank() >= 1 && part.rows.size(-1) == width && part.ids.size() * width == part.rows.size(),
            "[{}] gradient rows of shape {} for {} ids do not fit a table of width {}", who, part.rows.shape(),
            part.ids.size(), width);
  const RowGradient& first = gradient.rows().front();
  const auto ids = first.ids.values();
  const bool merged = gradient.rows().size() == 1 && first.ids.contiguous_layout() && first.rows.contiguous_layout() &&
                      std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
  RowGradient result = merged ? first : gradient.merged();
  const Index count = result.ids.size();
  require(count == 0 || (result.ids.data()[0] >= 0 && result.ids.data()[count - 1] < rows),
          "[{}] gradient row {} is outside a table of {} rows", who,
          count == 0 ? 0 : (result.ids.data()[0] < 0 ? result.ids.data()[0] : result.ids.data()[count - 1]), rows);
  return result;
}

}  // namespace heed
