#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "heed/autograd/var.h"

// The registry of ops. Every name that a source file gives to record() must be here (ops_gradient_test.cpp reads the
// sources and holds this); each entry is gradient-checked in double and compared with PyTorch's recorded cases.

namespace heed::test {

using Attributes = nlohmann::json;  // what is not differentiated: axes, ids, masks, lengths, rates

struct OpExample {
  std::vector<Shape> shapes;  // of the differentiable inputs
  Attributes attributes = Attributes::object();
  double low = 0, high = 0;  // inputs uniform in [low, high) if low < high, else standard normal
};

struct OpCase {
  std::string op;
  std::vector<OpExample> examples;
  std::function<Var(std::span<const Var>, const Attributes&)> apply;
};

const std::vector<OpCase>& op_cases();

// A namespace-scope `const RegisterOps <family>_ops{{...}, {...}};` in tests/autograd/ops/<family>_cases.cpp.
struct RegisterOps {
  RegisterOps(std::initializer_list<OpCase> cases);
};

// From JSON lists, for attributes.
Ids ids_from(const nlohmann::json& nested);    // [[1, 2], [3, 4]] → shape [2, 2]
Mask mask_from(const nlohmann::json& nested);  // of 0 and 1

// Inputs for an example: the same numbers at every run.
std::vector<Tensor> make_inputs(const OpExample& example, std::uint64_t seed);

}  // namespace heed::test
