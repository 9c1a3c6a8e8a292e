#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heed/autograd/gradient.h"

// Floating-point sums depend on their order. What shards and ranks give is always summed in the tree
//   ((0 + 1) + (2 + 3)) + ((4 + 5) + ...)
// whoever does it: a rank that has 2^k neighbouring shards does the lowest k levels of the tree over all shards, and
// the ranks the others.

namespace heed {

// Part `from` is added to part `to`.
struct Addition {
  std::size_t to, from;
};
// The additions of the tree over parts of which some are not there, in their order. The sum is then in the first part
// that is there.
std::vector<Addition> additions_in_tree(const std::vector<bool>& there);

// The sum of gradients that are rows of a table, or nothing: rows again, each id once and in rising order.
Gradient sum_rows_in_tree(std::span<Gradient> parts);

}  // namespace heed
