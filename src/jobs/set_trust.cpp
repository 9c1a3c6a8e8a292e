#include "heed/jobs/set_trust.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"

namespace heed {
namespace {

// A number of TraceTrust beside the same of random weights.
struct Compared {
  const char *title, *name;
  double TraceTrust::*own;
  double TraceTrust::*random;  // none: it is 0 in the mean
};
constexpr std::array kCompared{
    Compared{"gradient agreement", "gradient_agreement", &TraceTrust::gradient_agreement, nullptr},
    Compared{"leave-one-out agreement", "leave_one_out_agreement", &TraceTrust::leave_one_out_agreement, nullptr},
    Compared{"comprehensiveness", "comprehensiveness", &TraceTrust::comprehensiveness,
             &TraceTrust::random_comprehensiveness},
    Compared{"sufficiency", "sufficiency", &TraceTrust::sufficiency, &TraceTrust::random_sufficiency}};

bool can_be_measured(const Runner& runner, const Sample& sample, const ExplainOptions& options) {
  const Index longest = std::min(options.longest_trusted, options.run.limits.longest);
  for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
    const Index length = runner.read_input(i, sample.inputs[i]).size();
    const bool has_end = is_text(runner.job().inputs[i].kind);
    if (length > longest || length <= (has_end ? 1 : 0)) return false;
  }
  return true;
}

ScoreInterval interval_of(std::vector<double> scores, Index draws) {
  const std::size_t count = scores.size();
  const ScoreOfSamples mean = score_of_means(std::move(scores));
  if (draws > 0) return bootstrap_interval(mean, count, draws);
  const double score = score_of_all(mean, count);
  return {score, score, score};
}

SetTrust::Number number_of(const Compared& compared, std::span<const TraceTrust> trusts, Index draws) {
  std::vector<double> own, random;
  for (const TraceTrust& trust : trusts) {
    if (std::isnan(trust.*compared.own)) continue;
    own.push_back(trust.*compared.own);
    random.push_back(compared.random ? trust.*compared.random : 0);
  }
  SetTrust::Number number{compared.title, compared.name};
  number.samples = static_cast<Index>(own.size());
  if (own.empty()) return number;
  number.own = interval_of(std::move(own), draws);
  number.random = interval_of(std::move(random), draws);
  return number;
}

}  // namespace

SetTrust measure_set_trust(Runner& runner, std::span<const Sample> samples, Index most, Index draws,
                           const ExplainOptions& options) {
  require(!runner.attentions().empty(), "[trust] {} looks at nothing: it has no weights that could be trusted",
          runner.name());
  ExplainOptions trusted = options;
  trusted.trust = true;
  const std::size_t wanted = most > 0 ? std::min(samples.size(), static_cast<std::size_t>(most)) : samples.size();
  SetTrust result;
  std::vector<TraceTrust> trusts;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Sample& sample = samples[i * samples.size() / wanted];
    if (!can_be_measured(runner, sample, trusted)) {
      ++result.left_out;
      continue;
    }
    const Sample alone = without_outputs(sample);
    for (const Trace& trace : runner.explain(std::span(&alone, 1), trusted))
      if (!trace.trust.empty()) trusts.push_back(trace.trust.front());
  }
  require(!trusts.empty(), "[trust] none of {} samples can be measured: they are empty, or longer than {} pieces",
          wanted, std::min(trusted.longest_trusted, trusted.run.limits.longest));
  result.samples = static_cast<Index>(trusts.size());
  for (const Compared& compared : kCompared) result.numbers.push_back(number_of(compared, trusts, draws));
  return result;
}

std::string SetTrust::text(Index draws) const {
  const auto written = [draws](const ScoreInterval& interval) {
    return draws > 0 ? fmt::format("{:.3f} ({:.3f} .. {:.3f})", interval.score, interval.low, interval.high)
                     : fmt::format("{:.3f}", interval.score);
  };
  std::string text = fmt::format("Whether its weights are the reason, on {} samples{}{}:\n", samples,
                                 draws > 0 ? fmt::format(" (95 % of {} draws of them)", draws) : "",
                                 left_out > 0 ? fmt::format("; {} empty or too long ones are left out", left_out) : "");
  text += fmt::format("{:<24} {:>24}  {:>24}  {:>7}\n", "", "the model's weights", "random weights", "samples");
  for (const Number& number : numbers)
    text += number.samples == 0 ? fmt::format("{:<24} {:>24}\n", number.title, "not defined")
                                : fmt::format("{:<24} {:>24}  {:>24}  {:>7}\n", number.title, written(number.own),
                                              written(number.random), number.samples);
  return text;
}

}  // namespace heed
