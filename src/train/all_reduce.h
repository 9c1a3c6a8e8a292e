#pragma once

#include <span>

#include "heed/nn/parameters.h"

namespace heed {

// Sums over the ranks (processes) that train one model together. A single process is one rank; MPI is another
// implementation of this and nothing else.
class AllReduce {
 public:
  virtual ~AllReduce() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Every rank calls this with the same number of buffers, of the same lengths, in the same order. Afterwards each
  // buffer holds the sum over all ranks, bit-identical on every rank and the same at every run.
  virtual void sum(std::span<const std::span<Real>> buffers) = 0;
};

class SingleProcess final : public AllReduce {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(std::span<const std::span<Real>>) override {}
};

// Sums the gradients and the loss of all ranks. Each parameter that has a gradient on any rank is one buffer, in the
// parameters' order; sparse gradients travel densified, since the ranks touch different rows; with a single rank
// nothing is done. A first small buffer tells which parameters those are, so that one without a gradient anywhere
// stays without, and whether a rank failed: then this throws on all ranks instead of leaving the others to wait.
void all_reduce(AllReduce& ranks, const Parameters& parameters, Gradients& gradients, double& loss, bool failed);

}  // namespace heed
