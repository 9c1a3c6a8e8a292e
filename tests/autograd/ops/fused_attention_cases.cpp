#include "heed/attention/fused.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

// Attributes: scale, key_lengths, query_lengths, before and after of the band, key_block.
FusedOptions options_of(const Attributes& a) {
  FusedOptions options;
  if (a.contains("scale")) options.scale = a.at("scale").get<Real>();
  options.key_lengths = a.value("key_lengths", std::vector<Index>());
  options.query_lengths = a.value("query_lengths", std::vector<Index>());
  options.band = {a.value("before", Index{Band::kAll}), a.value("after", Index{Band::kAll})};
  options.key_block = a.value("key_block", Index{512});
  return options;
}

// Keys beyond one block (a panel is 16 wide in double) and queries beyond one tile of 48, with parts left over.
const std::vector<OpExample> fused_examples = {
    {{Shape{1, 1, 1, 1}, Shape{1, 1, 1, 1}, Shape{1, 1, 1, 1}}},
    {{Shape{2, 2, 5, 3}, Shape{2, 2, 7, 3}, Shape{2, 2, 7, 4}}},
    {{Shape{1, 2, 3, 4}, Shape{1, 2, 21, 4}, Shape{1, 2, 21, 18}}, {{"key_block", 16}, {"scale", 0.3}}},
    {{Shape{1, 1, 51, 2}, Shape{1, 1, 19, 2}, Shape{1, 1, 19, 1}}, {{"key_block", 1}}},
    {{Shape{3, 1, 4, 2}, Shape{3, 1, 6, 2}, Shape{3, 1, 6, 3}},
     {{"key_lengths", {6, 0, 2}}, {"query_lengths", {1, 4, 3}}}},
    {{Shape{1, 2, 20, 2}, Shape{1, 2, 20, 2}, Shape{1, 2, 20, 2}}, {{"after", 0}, {"key_block", 16}}},
    {{Shape{1, 1, 20, 2}, Shape{1, 1, 17, 2}, Shape{1, 1, 17, 2}}, {{"before", 1}, {"after", 2}}},
    {{Shape{1, 1, 0, 2}, Shape{1, 1, 3, 2}, Shape{1, 1, 3, 2}}},
    {{Shape{1, 1, 2, 2}, Shape{1, 1, 0, 2}, Shape{1, 1, 0, 2}}},
};

const RegisterOps fused_attention_ops{
    {"fused_attention", fused_examples,
     [](std::span<const Var> x, const Attributes& a) { return attend_fused(x[0], x[1], x[2], options_of(a)).read; }}};

}  // namespace
}  // namespace heed::test
