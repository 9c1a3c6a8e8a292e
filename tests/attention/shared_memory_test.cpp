#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/attention/mechanism.h"

// Rows of a search that look at one source share its memory, and ask it together, where the parts allow that.

namespace heed::test {
namespace {

Attended asked(const Attention& attention, const Memory& memory, std::uint64_t seed) {
  const NoGradient off;
  Query query;
  query.vectors = Var(random_tensor(Shape{memory.batch(), memory.heads(), 1, 4}, seed));
  query.position = 2;
  query.weights = true;
  return attention(query, memory);
}

TEST(SharedMemory, IsToEveryCompositionWhatCopiesAre) {
  const NoGradient off;
  int shared = 0;
  for (const Composition& composition : every_composition()) {
    SCOPED_TRACE(composition.name);
    Instance instance(composition.options);
    randomise(instance.parameters, 3);
    if (instance.attention.carries().any() || !instance.attention.asks()) continue;
    const Inputs inputs = random_inputs({.n = 1, .lengths = {5, 3, 4, 1}}, 1);
    Memory memory = instance.attention.memory(inputs.keys, inputs.values, inputs.lengths), copied = memory;
    copied.shares = copied.by_reference = false;
    // More rows than sources, uneven and in any order; then a source less; then so few that the rest is dropped.
    std::uint64_t seed = 10;
    for (const Ids& rows : {ids({3, 0, 0, 1, 2, 0, 3}), ids({0, 1, 1, 6, 3}), ids({3, 1, 1, 0}), ids({1, 2})}) {
      memory.select(rows);
      copied.select(rows);
      const Attended together = asked(instance.attention, memory, seed),
                     alone = asked(instance.attention, copied, seed);
      ++seed;
      if (memory.by_reference) continue;  // fused: another order of sums
      EXPECT_TRUE(same_bits(together.read.value(), alone.read.value()));
      EXPECT_TRUE(same_bits(together.weights.value(), alone.weights.value()));
      EXPECT_TRUE(same_bits(memory.gathered().keys.value(), copied.keys.value()));
    }
    if (!memory.shares) continue;
    ++shared;
    EXPECT_EQ(memory.keys.size(0), 1);  // both rows that are left look at the first source
  }
  EXPECT_GT(shared, 0);
}

TEST(SharedMemory, MovesNothingWhileMostOfItIsRead) {
  const NoGradient off;
  Instance instance(small(composed_of("additive")));
  const Inputs inputs = random_inputs({.n = 1, .lengths = {5, 3, 4, 1}}, 1);
  const Memory whole = instance.attention.memory(inputs.keys, inputs.values, inputs.lengths);
  Memory memory = whole;
  memory.select(ids({0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(memory.batch(), 8);
  EXPECT_EQ(memory.keys.value().data(), whole.keys.value().data());
  EXPECT_EQ(memory.lengths.at({5}), 4);
}

}  // namespace
}  // namespace heed::test
