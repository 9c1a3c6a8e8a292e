#include "heed/kernels/dispatch.h"

#include <hwy/targets.h>
#include <hwy/highway.h>

#include "heed/base/error.h"

namespace heed::kernels {

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void use_simd_target(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  if (!name.empty()) {
    bool known = false;
    for (const auto target : hwy::SupportedAndGeneratedTargets()) {
      if (name != hwy::TargetName(target)) continue;
      hwy::SetSupportedTargetsForTest(target);
      known = true;
      break;
    }
    require(known, "[simd] target {} is not available here", name);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace heed::kernels
