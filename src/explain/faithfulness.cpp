#include "heed/explain/faithfulness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "heed/autograd/ops/loss.h"
#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr Index kLogitsAtOnce = Index{1} << 22;  // numbers; more would be new pages for every batch
// A batch is a step, at which the work can be ended: it should be over soon, and be large enough for matrix products.
constexpr Index kWordsAtOnce = Index{1} << 14, kChoicesAtOnce = 256;
constexpr Index kRandomRows = 8;  // at least so many rows of random orders

std::size_t to(Index i) { return static_cast<std::size_t>(i); }

// How many samples of so many words and numbers of logits make a batch.
Index batch_size(Index words, Index logits) {
  const Index fitting = std::min(kWordsAtOnce / std::max<Index>(1, words), kLogitsAtOnce / std::max<Index>(1, logits));
  return std::clamp<Index>(fitting, 1, kChoicesAtOnce);
}

// What is left of an input.
EncodedInput keep_places(const EncodedInput& input, const std::vector<bool>& kept) {
  EncodedInput result;
  if (input.features) {
    const auto count = static_cast<Index>(std::count(kept.begin(), kept.end(), true)), width = input.features.size(1);
    const Tensor from = input.features.contiguous();
    result.features = Tensor(Shape{count, width});
    Real* next = result.features.data();
    for (std::size_t j = 0; j < kept.size(); ++j)
      if (kept[j]) next = std::copy_n(from.data() + static_cast<Index>(j) * width, width, next);
    return result;
  }
  result.known = input.known, result.extended = input.extended;
  auto end = input.ends.begin();
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (kept[j]) result.words.push_back(input.words[j]);
    if (kept[j] && !input.copies.empty()) result.copies.push_back(input.copies[j]);
    if (kept[j] && !input.marks.empty()) result.marks.push_back(input.marks[j]);
    if (end == input.ends.end() || *end != static_cast<std::int32_t>(j) + 1) continue;
    const auto here = static_cast<std::int32_t>(result.words.size());
    if (here > (result.ends.empty() ? 0 : result.ends.back())) result.ends.push_back(here);
    ++end;
  }
  return result;
}

class WriterEvidence final : public Evidence {
 public:
  WriterEvidence(const Writer& writer, EncodedInput source, std::vector<std::int32_t> output, OnStep on_step)
      : writer_(writer), source_(std::move(source)), output_(std::move(output)), on_step_(std::move(on_step)) {
    require(!output_.empty(), "[trust] the output is empty");
    previous_.push_back(kBegin);
    const Index known = source_.known > 0 ? source_.known : std::numeric_limits<Index>::max();
    std::transform(output_.begin(), output_.end() - 1, std::back_inserter(previous_),
                   [known](std::int32_t id) { return id < known ? id : kUnknown; });
  }
  Index steps() const override { return static_cast<Index>(output_.size()); }
  Index places() const override { return source_.length(); }

  Tensor log_probabilities(std::span<const std::vector<bool>> choices) const override {
    const NoGradient off;
    Tensor result(Shape{static_cast<Index>(choices.size()), steps()});
    Index at_once = 1;  // the first batch tells the size of the vocabulary
    for (std::size_t begin = 0, end = 0; begin < choices.size(); begin = end) {
      if (on_step_) on_step_();
      end = std::min(begin + to(at_once), choices.size());
      std::vector<EncodedSample> samples;
      for (std::size_t i = begin; i < end; ++i)
        samples.push_back({.inputs = {keep_places(source_, choices[i])}, .output = {}, .links = {}});
      const auto rows = static_cast<Index>(samples.size());
      Source previous{.words = Ids(Shape{rows, steps()}),
                      .lengths = Ids(Shape{rows}, static_cast<std::int32_t>(steps()))};
      for (Index row = 0; row < rows; ++row)
        std::copy(previous_.begin(), previous_.end(), previous.words.data() + row * steps());
      const Tensor logits = writer_.forward(batch_of(samples, false).inputs.front(), previous).words.logits().value();
      const Tensor logs = log_probabilities_of(logits).contiguous();
      const Index vocabulary = logs.size(-1);
      for (Index row = 0; row < rows; ++row)
        for (Index t = 0; t < steps(); ++t)
          result.data()[(static_cast<Index>(begin) + row) * steps() + t] =
              logs.data()[(row * steps() + t) * vocabulary + output_[to(t)]];
      at_once = batch_size(places() + steps(), steps() * vocabulary);
    }
    return result;
  }

  Tensor gradients() const override {
    const Index n = steps(), m = places();
    const std::vector<EncodedSample> whole{{.inputs = {source_}, .output = {}, .links = {}}};
    const Index width = batch_of(whole, false).inputs.front().longest();  // with the end of a text
    Tensor result(Shape{n, m});
    Index at_once = 1;
    for (Index begin = 0, end = 0; begin < n; begin = end) {
      if (on_step_) on_step_();
      end = std::min(begin + at_once, n);
      // Copy t of the sample ends with y_t and asks for its gradient alone.
      const Index rows = end - begin;
      const std::vector<EncodedSample> samples(to(rows), whole.front());
      Source previous{.words = Ids(Shape{rows, end}, kEnd), .lengths = Ids(Shape{rows})};
      Ids expected(Shape{rows, end}, -1);
      for (Index t = begin; t < end; ++t) {
        const Index row = t - begin;
        std::copy_n(previous_.begin(), t + 1, previous.words.data() + row * end);
        previous.lengths.data()[row] = static_cast<std::int32_t>(t + 1);
        expected.data()[row * end + t] = output_[to(t)];
      }
      ForwardOptions options;
      options.gates = Var::leaf(Tensor(Shape{rows, end, width}, Real{1}));
      const WordScores words = writer_.forward(batch_of(samples, false).inputs.front(), previous, options).words;
      at_once = batch_size(m + n, n * words.vocabulary());
      const Tensor gradient =
          backward(words.cross_entropy(expected, {.average = false})).of(options.gates).contiguous();
      for (Index t = begin; t < end; ++t)
        for (Index j = 0; j < m; ++j)
          result.data()[t * m + j] = std::abs(gradient.data()[((t - begin) * end + t) * width + j]);
    }
    return result;
  }

 private:
  const Writer& writer_;
  EncodedInput source_;
  std::vector<std::int32_t> output_, previous_;
  OnStep on_step_;
};

class ChooserEvidence final : public Evidence {
 public:
  ChooserEvidence(const Chooser& chooser, EncodedSample sample, OnStep on_step)
      : chooser_(chooser),
        sample_(std::move(sample)),
        looked_at_(to(chooser.alignment_axes().second)),
        on_step_(std::move(on_step)) {
    sample_.choices = choices_of(sample_);
  }
  Index steps() const override { return 1; }
  Index places() const override { return sample_.inputs[looked_at_].length(); }

  Tensor log_probabilities(std::span<const std::vector<bool>> choices) const override {
    const NoGradient off;
    Tensor result(Shape{static_cast<Index>(choices.size()), 1});
    for (std::size_t begin = 0, end = 0; begin < choices.size(); begin = end) {
      if (on_step_) on_step_();
      end = std::min(begin + to(batch_size(places(), 0)), choices.size());
      std::vector<EncodedSample> samples;
      for (std::size_t i = begin; i < end; ++i) {
        samples.push_back(sample_);
        samples.back().inputs[looked_at_] = keep_places(sample_.inputs[looked_at_], choices[i]);
      }
      const Tensor logs =
          log_probabilities_of(chooser_.forward(batch_of(samples, true).inputs).scores.value()).contiguous();
      for (std::size_t i = begin; i < end; ++i)
        result.data()[i] = logs.data()[static_cast<Index>(i - begin) * logs.size(1) + sample_.output.front()];
    }
    return result;
  }

  Tensor gradients() const override {
    const std::vector<Source> inputs = batch_of(std::span(&sample_, 1), true).inputs;
    Shape shape;
    {
      const NoGradient off;
      shape = chooser_.forward(inputs, {.alignment = true}).alignment.shape();
    }
    ForwardOptions options;
    options.gates = Var::leaf(Tensor(shape, Real{1}));
    const Var loss = cross_entropy(chooser_.forward(inputs, options).scores, Ids(Shape{1}, sample_.output.front()),
                                   {.average = false});
    const Tensor gradient = backward(loss).of(options.gates).contiguous();
    Tensor result(Shape{1, places()}, Real{0});
    for (Index row = 0; row < shape[1]; ++row)
      for (Index j = 0; j < places(); ++j) result.data()[j] += std::abs(gradient.data()[row * shape[2] + j]);
    return result;
  }

 private:
  const Chooser& chooser_;
  EncodedSample sample_;
  std::size_t looked_at_;
  OnStep on_step_;
};

// Choices of places to keep, each computed once.
class Erasures {
 public:
  explicit Erasures(const Evidence& evidence) : evidence_(evidence) {
    everything_ = keeping(std::vector<bool>(to(evidence.places()), true));
  }
  // The number of a choice, from 0.
  std::size_t keeping(const std::vector<bool>& kept) {
    const auto [place, is_new] = numbers_.try_emplace(kept, choices_.size());
    if (is_new) choices_.push_back(kept);
    return place->second;
  }
  std::size_t everything() const { return everything_; }
  void compute() { logs_ = evidence_.log_probabilities(choices_); }
  double log_probability(std::size_t choice, Index step) const {
    return static_cast<double>(logs_.data()[choice * to(evidence_.steps()) + to(step)]);
  }
  double probability(std::size_t choice, Index step) const { return std::exp(log_probability(choice, step)); }

 private:
  const Evidence& evidence_;
  std::map<std::vector<bool>, std::size_t> numbers_;
  std::vector<std::vector<bool>> choices_;
  Tensor logs_;  // [choices, steps]
  std::size_t everything_ = 0;
};

// The numbers of the places in falling order of their weight; among equals the first comes first.
std::vector<Index> by_weight(const Real* row, Index places) {
  std::vector<Index> order(to(places));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [row](Index a, Index b) { return row[a] > row[b]; });
  return order;
}

// Over the rows for which it is defined; NaN if there are none.
double mean_agreement(const Tensor& weights, const Tensor& importance) {
  const Index n = importance.size(0), m = importance.size(1);
  double sum = 0;
  Index rows = 0;
  for (Index t = 0; t < n; ++t) {
    const double tau = kendall_tau({weights.data() + t * weights.size(1), to(m)}, {importance.data() + t * m, to(m)});
    if (!std::isnan(tau)) sum += tau, ++rows;
  }
  return rows == 0 ? kNothing : sum / static_cast<double>(rows);
}

// Places in an order for every row and draw.
using Orders = std::vector<std::pair<Index, std::vector<Index>>>;  // the step, and the places

ErasureScores scores_of(const Evidence& evidence, const Orders& orders, std::span<const double> bins) {
  require(!bins.empty(), "[erasure] there are no bins");
  Erasures erasures(evidence);
  const Index m = evidence.places();
  struct Choice {
    Index step;
    std::size_t without, only;
  };
  std::vector<Choice> choices;
  for (const auto& [step, order] : orders)
    for (const double bin : bins) {
      require(bin >= 0 && bin <= 1, "[erasure] a bin of {} is no share of the input", bin);
      const auto count = to(static_cast<Index>(std::ceil(bin * static_cast<double>(m) - 1e-9)));
      std::vector<bool> without(to(m), true), only(to(m), false);
      for (std::size_t i = 0; i < count; ++i) without[to(order[i])] = false, only[to(order[i])] = true;
      choices.push_back({step, erasures.keeping(without), erasures.keeping(only)});
    }
  erasures.compute();
  ErasureScores scores;
  for (const Choice& choice : choices) {
    const double all = erasures.probability(erasures.everything(), choice.step);
    scores.comprehensiveness += all - erasures.probability(choice.without, choice.step);
    scores.sufficiency += all - erasures.probability(choice.only, choice.step);
  }
  scores.comprehensiveness /= static_cast<double>(choices.size());
  scores.sufficiency /= static_cast<double>(choices.size());
  return scores;
}

// One row for each step of the output: the trace's own, or the mean of several.
Tensor rows_for(const Evidence& evidence, const Tensor& alignment) {
  Tensor plain = alignment.contiguous();
  if (plain.size(0) == evidence.steps()) return plain;
  Tensor mean(Shape{1, plain.size(1)}, Real{0});
  for (Index i = 0; i < plain.size(); ++i)
    mean.data()[i % plain.size(1)] += plain.data()[i] / static_cast<Real>(plain.size(0));
  return mean;
}

}  // namespace

std::unique_ptr<Evidence> writer_evidence(const Writer& writer, EncodedInput source, std::vector<std::int32_t> output,
                                          OnStep on_step) {
  return std::make_unique<WriterEvidence>(writer, std::move(source), std::move(output), std::move(on_step));
}

std::unique_ptr<Evidence> chooser_evidence(const Chooser& chooser, EncodedSample sample, OnStep on_step) {
  return std::make_unique<ChooserEvidence>(chooser, std::move(sample), std::move(on_step));
}

std::vector<double> row_entropies(const Tensor& weights) {
  require(weights.rank() == 2, "[entropy] weights {} are not [rows, columns]", weights.shape());
  const Tensor plain = weights.contiguous();
  std::vector<double> entropies;
  for (Index t = 0; t < plain.size(0); ++t) {
    double sum = 0, weighted = 0;
    for (Index j = 0; j < plain.size(1); ++j)
      if (const auto weight = static_cast<double>(plain.data()[t * plain.size(1) + j]); weight > 0)
        sum += weight, weighted += weight * std::log(weight);
    // -Σ (a / s) ln(a / s) = ln s - (Σ a ln a) / s; rounding must not make it negative.
    entropies.push_back(sum > 0 ? std::max(0.0, std::log(sum) - weighted / sum) : 0);
  }
  return entropies;
}

Tensor leave_one_out_changes(const Evidence& evidence) {
  Erasures erasures(evidence);
  const Index n = evidence.steps(), m = evidence.places();
  std::vector<std::size_t> choices;
  for (Index j = 0; j < m; ++j) {
    std::vector<bool> kept(to(m), true);
    kept[to(j)] = false;
    choices.push_back(erasures.keeping(kept));
  }
  erasures.compute();
  Tensor changes(Shape{n, m});
  for (Index t = 0; t < n; ++t)
    for (Index j = 0; j < m; ++j)
      changes.data()[t * m + j] = static_cast<Real>(
          std::abs(erasures.log_probability(erasures.everything(), t) - erasures.log_probability(choices[to(j)], t)));
  return changes;
}

double kendall_tau(std::span<const Real> a, std::span<const Real> b) {
  require(a.size() == b.size(), "[kendall] {} and {} numbers", a.size(), b.size());
  double agreement = 0, different_a = 0, different_b = 0;
  const auto order = [](Real x, Real y) { return x < y ? -1 : x > y ? 1 : 0; };
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = order(a[i], a[j]), in_b = order(b[i], b[j]);
      agreement += in_a * in_b, different_a += in_a * in_a, different_b += in_b * in_b;
    }
  return different_a > 0 && different_b > 0 ? agreement / std::sqrt(different_a * different_b) : kNothing;
}

ErasureScores erasure_scores(const Evidence& evidence, const Tensor& weights, std::span<const double> bins) {
  const Index n = evidence.steps(), m = evidence.places();
  require(weights.rank() == 2 && weights.size(0) == n && weights.size(1) >= m,
          "[erasure] weights {} do not fit {} steps and {} places", weights.shape(), n, m);
  const Tensor plain = weights.contiguous();
  Orders orders;
  for (Index t = 0; t < n; ++t) orders.emplace_back(t, by_weight(plain.data() + t * plain.size(1), m));
  return scores_of(evidence, orders, bins);
}

ErasureScores random_erasure_scores(const Evidence& evidence, std::span<const double> bins) {
  const Index n = evidence.steps(), m = evidence.places(), draws = (kRandomRows + n - 1) / n;
  RandomSequence random(RandomKey{1}.derive("erasure"));
  Orders orders;
  for (Index t = 0; t < n; ++t)
    for (Index draw = 0; draw < draws; ++draw) {
      std::vector<Index> order(to(m));
      std::iota(order.begin(), order.end(), Index{0});
      for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
      orders.emplace_back(t, std::move(order));
    }
  return scores_of(evidence, orders, bins);
}

AlignmentLinks hard_word_links(const Trace& trace) {
  const std::vector<TraceToken>&source = trace.column_axis().text.tokens, &target = trace.row_axis().text.tokens;
  const Tensor weights = trace.alignment.contiguous();
  require((weights.shape() == Shape{static_cast<Index>(target.size()), static_cast<Index>(source.size())}),
          "[alignment] weights {} do not fit {} target and {} source tokens", weights.shape(), target.size(),
          source.size());
  std::map<Index, std::map<Index, Real>> sums;  // by word of the target and word of the source
  for (std::size_t t = 0; t < target.size(); ++t)
    for (std::size_t s = 0; s < source.size(); ++s)
      if (target[t].word >= 0 && source[s].word >= 0)
        sums[target[t].word][source[s].word] += weights.data()[t * source.size() + s];
  AlignmentLinks links;
  for (const auto& [word, row] : sums) {
    const auto most =
        std::max_element(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->second > 0) links.sure.emplace_back(most->first, word);
  }
  std::sort(links.sure.begin(), links.sure.end());
  links.possible = links.sure;
  return links;
}

TraceTrust measure_trust(const Evidence& evidence, const Trace& trace, const TrustOptions& options) {
  TraceTrust trust;
  if (!trace.alignment) return trust;
  trust.entropy = row_entropies(trace.alignment);
  if (options.gold) trust.alignment_error = compare_alignment(hard_word_links(trace), *options.gold).error_rate();
  if (evidence.places() == 0 || evidence.steps() == 0) return trust;
  const Tensor weights = rows_for(evidence, trace.alignment);
  require(weights.size(0) == evidence.steps() && weights.size(1) >= evidence.places(),
          "[trust] weights {} are not those of {} steps and {} places", weights.shape(), evidence.steps(),
          evidence.places());
  trust.gradient_agreement = mean_agreement(weights, evidence.gradients());
  trust.leave_one_out_agreement = mean_agreement(weights, leave_one_out_changes(evidence));
  const ErasureScores scores = erasure_scores(evidence, weights, options.bins),
                      random = random_erasure_scores(evidence, options.bins);
  trust.comprehensiveness = scores.comprehensiveness, trust.sufficiency = scores.sufficiency;
  trust.random_comprehensiveness = random.comprehensiveness, trust.random_sufficiency = random.sufficiency;
  return trust;
}

}  // namespace heed
