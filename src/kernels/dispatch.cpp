#include "heed/kernels/dispatch.h"

#include <atomic>
#include <hwy/targets.h>
#include <hwy/highway.h>
#if HWY_ARCH_X86
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "heed/base/error.h"

namespace heed::kernels {
namespace {

constexpr const char *kVnniTarget = "AVX3_VNNI", *kAmxTarget = "AVX3_AMX";

bool machine_has_vnni() {
#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_AVX3)  // a compiler that is not trusted with AVX3 is not with this
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#else
  return false;
#endif
}

// A program has AMX's tiles only if it asks for them: signals and threads that wait then have 8 kB more to keep.
bool machine_has_amx() {
#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_AVX3) && defined(__linux__)
  static const bool has = [] {
    constexpr unsigned kBfloat16 = 1U << 22, kTile = 1U << 24, kInt8 = 1U << 25, kAll = kBfloat16 | kTile | kInt8;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!machine_has_vnni() || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    if ((d & kAll) != kAll) return false;
    constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
  }();
  return has;
#else
  return false;
#endif
}

std::atomic<bool> vnni_is_used = machine_has_vnni(), amx_is_allowed = true;

}  // namespace

bool vnni() { return vnni_is_used.load(std::memory_order_relaxed); }
bool amx() { return amx_is_allowed.load(std::memory_order_relaxed) && machine_has_amx(); }

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  if (machine_has_amx()) names.emplace_back(kAmxTarget);
  if (machine_has_vnni()) names.emplace_back(kVnniTarget);
  for (const auto target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void use_simd_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  amx_is_allowed = name.empty() || name == kAmxTarget;
  require(name != kAmxTarget || machine_has_amx(), "[simd] target {} is not available here", name);
  vnni_is_used = machine_has_vnni() && (amx_is_allowed || name == kVnniTarget);
  if (!name.empty()) {
    const std::string wanted = name == kVnniTarget || name == kAmxTarget ? "AVX3" : name;
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
