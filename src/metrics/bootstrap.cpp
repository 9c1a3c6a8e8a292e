#include "heed/metrics/bootstrap.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"

namespace heed {
namespace {

BleuCounts sum_of(std::span<const BleuCounts> list) {
  BleuCounts sum;
  for (const BleuCounts& each : list) sum += each;
  return sum;
}

}  // namespace

PairedBootstrap paired_bootstrap(std::span<const BleuCounts> first, std::span<const BleuCounts> second, Index draws,
                                 std::uint64_t seed, const BleuOptions& options) {
  require(first.size() == second.size() && !first.empty(), "[bootstrap] {} and {} sentences cannot be paired",
          first.size(), second.size());
  require(draws >= 1, "[bootstrap] at least 1 draw is needed, not {}", draws);
  PairedBootstrap result;
  result.difference = bleu(sum_of(second), options).score - bleu(sum_of(first), options).score;

  std::vector<double> differences(static_cast<std::size_t>(draws));
  parallel_for(draws, 64, [&](Index begin, Index end) {
    for (Index draw = begin; draw < end; ++draw) {
      RandomSequence random(RandomKey{seed, 0}.derive(static_cast<std::uint64_t>(draw)));
      BleuCounts a, b;
      for (std::size_t i = 0; i < first.size(); ++i) {
        const std::uint64_t chosen = random.below(first.size());
        a += first[chosen];
        b += second[chosen];
      }
      differences[static_cast<std::size_t>(draw)] = bleu(b, options).score - bleu(a, options).score;
    }
  });
  std::ranges::sort(differences);
  const auto at = [&](double share) {
    return differences[static_cast<std::size_t>(share * static_cast<double>(draws - 1) + .5)];
  };
  result.low = at(.025), result.high = at(.975);
  const auto turned = std::ranges::count_if(
      differences, [&](double difference) { return result.difference > 0 ? difference <= 0 : difference >= 0; });
  result.p_value = (1 + static_cast<double>(turned)) / (1 + static_cast<double>(draws));
  return result;
}

}  // namespace heed
