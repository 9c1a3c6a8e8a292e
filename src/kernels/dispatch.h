#pragma once

#include <string>
#include <vector>

namespace heed::kernels {

// The SIMD targets compiled in that this machine can run, best first. The best is used unless one is chosen. They are
// Highway's, and before them "AVX3_AMX" and "AVX3_VNNI", which are AVX3 with vnni() and the first with amx() too.
std::vector<std::string> simd_targets();
// Forces one of simd_targets() for all kernels, or gives the choice back with an empty name. For tests.
void use_simd_target(const std::string& name);
// Whether kernels may use AVX-512's products of bytes.
bool vnni();
// Whether they may use AMX's products of tiles of bytes and of bfloat16. Asks the system for the tiles when it is first
// called.
bool amx();

}  // namespace heed::kernels
