#pragma once

#include <string>
#include <vector>

namespace heed::kernels {

// The SIMD targets compiled in that this machine can run, best first. The best is used unless one is chosen. They are
// Highway's, and before them "AVX3_VNNI", which is AVX3 with vnni().
std::vector<std::string> simd_targets();
// Forces one of simd_targets() for all kernels, or gives the choice back with an empty name. For tests.
void use_simd_target(const std::string& name);
// Whether kernels may use AVX-512's products of bytes.
bool vnni();

}  // namespace heed::kernels
