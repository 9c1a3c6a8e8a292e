#include "heed/kernels/dispatch.h"

#include <atomic>
#include <hwy/targets.h>
#include <hwy/highway.h>

#include "heed/base/error.h"

namespace heed::kernels {
namespace {

constexpr const char* kVnniTarget = "AVX3_VNNI";

bool machine_has_vnni() {
#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_AVX3)  // a compiler that is not trusted with AVX3 is not with this
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#else
  return false;
#endif
}

std::atomic<bool> vnni_is_used = machine_has_vnni();

}  // namespace

bool vnni() { return vnni_is_used.load(std::memory_order_relaxed); }

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  if (machine_has_vnni()) names.emplace_back(kVnniTarget);
  for (const auto target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void use_simd_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  vnni_is_used = machine_has_vnni() && (name.empty() || name == kVnniTarget);
  if (!name.empty()) {
    const std::string wanted = name == kVnniTarget ? "AVX3" : name;
    bool known = false;
    for (const auto target : hwy::SupportedAndGeneratedTargets()) {
      if (wanted != hwy::TargetName(target)) continue;
      hwy::SetSupportedTargetsForTest(target);
      known = true;
      break;
    }
    require(known, "[simd] target {} is not available here", name);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace heed::kernels
