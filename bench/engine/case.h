#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heed/autograd/var.h"
#include "heed/nn/parameters.h"

// A case is the same work here and, under the same name, in bench/peers: the same numbers in, by a
// formula both sides compute, and the same numbers out, which the runner compares before it times anything.

namespace heed::bench {

// What a step computed, by name.
using Results = std::vector<std::pair<std::string, Tensor>>;
// Does the work once; puts what it computed into `results` unless that is null, as it is while being timed.
using Step = std::function<void(Results* results)>;
// Makes the case's data, outside the measured time.
using Prepare = std::function<Step()>;

// All cases by name.
std::map<std::string, Prepare>& cases();

struct Case {
  Case(const std::string& name, Prepare prepare) { cases()[name] = std::move(prepare); }
};

// Numbers in [-scale, scale) that depend only on seed and position.
Tensor filled(const Shape& shape, std::uint32_t seed, Real scale = 1);
// Numbers in 0..bound-1 likewise.
Ids filled_ids(const Shape& shape, std::uint32_t seed, std::int32_t bound);

// The same as a parameter's initialiser.
Initialiser filling(std::uint32_t seed, Real scale);

// Multiply-and-add operations a second of all threads together, in GFLOP/s; a multiply-add counts as two.
double fma_peak(int threads);
// Gigabytes a second that all threads together read from memory.
double memory_bandwidth(int threads);

}  // namespace heed::bench
