#include "heed/train/sum_tree.h"

namespace heed {

std::vector<Addition> additions_in_tree(const std::vector<bool>& there) {
  const std::size_t count = there.size();
  // Where the sum of each subtree stands: in the first of its parts that is there, or nowhere.
  const std::size_t nowhere = count;
  std::vector<std::size_t> place(count);
  for (std::size_t i = 0; i < count; ++i) place[i] = there[i] ? i : nowhere;
  std::vector<Addition> additions;
  for (std::size_t stride = 1; stride < count; stride *= 2)
    for (std::size_t i = 0; i + stride < count; i += 2 * stride) {
      const std::size_t right = place[i + stride];
      if (right == nowhere) continue;
      if (place[i] == nowhere)
        place[i] = right;
      else
        additions.push_back({place[i], right});
    }
  return additions;
}

Gradient sum_rows_in_tree(std::span<Gradient> parts) {
  std::vector<bool> there;
  for (const Gradient& part : parts) there.push_back(!part.empty());
  for (const Addition& addition : additions_in_tree(there)) {
    Gradient& sum = parts[addition.to];
    sum.add(std::move(parts[addition.from]));
    RowGradient merged = sum.merged();
    sum = Gradient::of_rows(std::move(merged.ids), std::move(merged.rows));
  }
  for (Gradient& part : parts)
    if (!part.empty()) return std::move(part);
  return {};
}

}  // namespace heed
