#include "heed/autograd/ops/embedding.h"

#include "support/op_cases.h"

namespace heed::test {
namespace {

const RegisterOps embedding_ops{
    {"embedding",
     {{{Shape{5, 3}}, {{"ids", {4, 0, 4, 2}}}}, {{Shape{3, 4}}, {{"ids", {{0, 1}, {2, 1}}}}}},
     [](std::span<const Var> x, const Attributes& a) { return embedding(x[0], ids_from(a.at("ids"))); }},
    {"dropout",
     {{{Shape{150}}, {{"rate", 0.3}, {"seed", 5}}}, {{Shape{3, 4}}, {{"rate", 0.0}, {"seed", 5}}}},
     [](std::span<const Var> x, const Attributes& a) {
       return dropout(x[0], a.at("rate").get<double>(), RandomKey{a.at("seed").get<std::uint64_t>(), 1});
     }},
};

}  // namespace
}  // namespace heed::test
