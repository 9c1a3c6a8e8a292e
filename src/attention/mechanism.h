#pragma once

#include <string>
#include <vector>

#include "heed/attention/options.h"

namespace heed {

// How the cost grows with the length n of the sequence (m of the memory), the table of Vaswani et al. 2017 extended.
struct Cost {
  std::string time;    // per layer or step, what a window hides skipped, as the fused kernel does
  std::string memory;  // beyond inputs and outputs, as Attention computes it
  std::string steps;   // operations that must wait for each other
  std::string path;    // longest way between two positions
};

// A published mechanism: a composition with a name. One file each in mechanisms/, which registers it.
struct Mechanism {
  std::string name;
  std::string paper;
  std::string equation;
  AttentionOptions options;
  Cost cost;
};

const std::vector<Mechanism>& mechanisms();
// An Error with the nearest known name if there is none.
const Mechanism& mechanism_named(const std::string& name);

struct RegisterMechanism {
  explicit RegisterMechanism(Mechanism mechanism);
};

// A composition by the names of its parts.
AttentionOptions composed_of(std::string score, std::string window = "global", std::string normaliser = "softmax");

// What `heed attentions` prints: mechanisms with paper, equation, parts, cost and state, then the parts by kind.
std::string describe_attentions();

}  // namespace heed
