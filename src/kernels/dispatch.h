#pragma once

#include <string>
#include <vector>

namespace heed::kernels {

// The SIMD targets compiled in that this machine can run, best first. The best is used unless one is chosen.
std::vector<std::string> simd_targets();
// Forces one of simd_targets() for all kernels, or gives the choice back with an empty name. For tests.
void use_simd_target(const std::string& name);

}  // namespace heed::kernels
