#pragma once

#include "engine/case.h"

namespace heed::bench {

struct Input {
  const char* gradient;  // its name in the results
  Var var;
};

// A step: the value of f(inputs) as "y" and the gradients of all inputs.
template <class F>
Step differentiated(std::vector<Input> inputs, Tensor dy, F f) {
  return [=](Results* results) {
    Gradients gradients;
    Tensor y;
    {
      const Var value = f(inputs);
      if (results) y = value.value();
      backward(value, dy, gradients);
    }
    if (!results) return;
    *results = {{"y", y}};
    for (const auto& [name, var] : inputs) results->emplace_back(name, gradients.of(var));
  };
}

}  // namespace heed::bench
