#include "heed/jobs/faithfulness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "heed/autograd/tensor_math.h"

namespace heed {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr Index kLogitsAtOnce = Index{1} << 24;  // numbers

std::size_t to(Index i) { return static_cast<std::size_t>(i); }

// Several sources over one target, or the beginnings of one target.
Source padded(std::span<const std::vector<std::int32_t>> sentences) {
  Index longest = 0;
  for (const auto& sentence : sentences) longest = std::max(longest, static_cast<Index>(sentence.size()));
  const auto batch = static_cast<Index>(sentences.size());
  Source result{Ids(Shape{batch, longest}, kEnd), Ids(Shape{batch})};
  for (Index i = 0; i < batch; ++i) {
    std::copy(sentences[to(i)].begin(), sentences[to(i)].end(), result.words.data() + i * longest);
    result.lengths.data()[i] = static_cast<std::int32_t>(sentences[to(i)].size());
  }
  return result;
}

// The target shifted by one: what the model has read when it writes each token.
std::vector<std::int32_t> previous_of(const TokenPair& pair) {
  std::vector<std::int32_t> previous{kBegin};
  previous.insert(previous.end(), pair.target.begin(), pair.target.end() - 1);
  return previous;
}

// How many sentences of so many target tokens make a batch.
Index batch_of(Index tokens, Index vocabulary) {
  return std::max<Index>(1, kLogitsAtOnce / std::max<Index>(1, tokens * vocabulary));
}

void check_pair(const TokenPair& pair) {
  require(!pair.source.empty() && pair.source.back() == kEnd, "[trust] the source does not end with the end");
  require(!pair.target.empty(), "[trust] the target is empty");
}

// ln p(y_t | some of the source's tokens, y_<t), each choice computed once.
class Erasures {
 public:
  Erasures(const Writer& model, const TokenPair& pair) : model_(model), pair_(pair) {
    check_pair(pair);
    everything_ = keeping(std::vector<bool>(to(tokens()), true));
  }

  Index tokens() const { return static_cast<Index>(pair_.source.size()) - 1; }
  Index steps() const { return static_cast<Index>(pair_.target.size()); }

  // The number of a choice, from 0; `kept` has a place for every token but the end.
  std::size_t keeping(const std::vector<bool>& kept) {
    const auto [place, is_new] = numbers_.try_emplace(kept, sources_.size());
    if (is_new) {
      std::vector<std::int32_t> source;
      for (std::size_t j = 0; j < kept.size(); ++j)
        if (kept[j]) source.push_back(pair_.source[j]);
      source.push_back(kEnd);
      sources_.push_back(std::move(source));
    }
    return place->second;
  }
  std::size_t everything() const { return everything_; }

  void compute() {
    const NoGradient off;
    const std::vector<std::int32_t> previous = previous_of(pair_);
    log_probabilities_.resize(sources_.size() * to(steps()));
    std::size_t at_once = 1;  // the first batch tells the size of the vocabulary
    for (std::size_t begin = 0, end = 0; begin < sources_.size(); begin = end) {
      end = std::min(begin + at_once, sources_.size());
      const std::vector<std::vector<std::int32_t>> targets(end - begin, previous);
      const TeacherForced forced =
          model_.forward(padded(std::span(sources_).subspan(begin, end - begin)), padded(targets));
      const Tensor logits = as_rows(forced.words.logits().value()), logs = log_probabilities_of(logits);
      const Index rows = logits.size(0), vocabulary = logits.size(1);
      for (Index row = 0; row < rows; ++row)
        log_probabilities_[begin * to(steps()) + to(row)] =
            static_cast<double>(logs.data()[row * vocabulary + pair_.target[to(row % steps())]]);
      at_once = to(batch_of(steps(), vocabulary));
    }
  }
  double log_probability(std::size_t choice, Index step) const {
    return log_probabilities_[choice * to(steps()) + to(step)];
  }
  double probability(std::size_t choice, Index step) const { return std::exp(log_probability(choice, step)); }

 private:
  const Writer& model_;
  const TokenPair& pair_;
  std::map<std::vector<bool>, std::size_t> numbers_;
  std::vector<std::vector<std::int32_t>> sources_;
  std::vector<double> log_probabilities_;  // [choices, steps]
  std::size_t everything_ = 0;
};

// The numbers of the tokens in falling order of their weight; among equals the first comes first.
std::vector<Index> by_weight(const Real* row, Index tokens) {
  std::vector<Index> order(to(tokens));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [row](Index a, Index b) { return row[a] > row[b]; });
  return order;
}

std::vector<std::int32_t> ids_of(const Vocabulary& vocabulary, const TraceText& text, const char* side) {
  std::unordered_map<std::string, std::int32_t> ids;
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(vocabulary.size()); ++id)
    ids.emplace(vocabulary.piece(id), id);
  std::vector<std::int32_t> result;
  for (const TraceToken& token : text.tokens) {
    const auto found = ids.find(token.text);
    require(
        found != ids.end(),
        "[trust] the model's {} vocabulary has no token {}; the trace must be of this model and of its tokens, not of "
        "words",
        side, token.text);
    result.push_back(found->second);
  }
  return result;
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

}  // namespace

TokenPair token_ids(const TranslationBundle& bundle, const Trace& trace) {
  TokenPair pair{ids_of(*bundle.source, trace.axis("source").text, "source"),
                 ids_of(*bundle.target, trace.axis("target").text, "target")};
  if (pair.source.empty() || pair.source.back() != kEnd) pair.source.push_back(kEnd);
  return pair;
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

Tensor attention_gradients(const Writer& model, const TokenPair& pair) {
  check_pair(pair);
  const auto n = static_cast<Index>(pair.target.size()), with_end = static_cast<Index>(pair.source.size());
  const std::vector<std::int32_t> previous = previous_of(pair);
  Tensor result(Shape{n, with_end - 1});
  Index at_once = 1;  // the first batch tells the size of the vocabulary
  for (Index begin = 0, end = 0; begin < n; begin = end) {
    end = std::min(begin + at_once, n);
    // Copy t of the pair ends with y_t and asks for its gradient alone.
    const std::vector<std::vector<std::int32_t>> sources(to(end - begin), pair.source);
    std::vector<std::vector<std::int32_t>> targets;
    Ids expected(Shape{end - begin, end}, -1);
    for (Index t = begin; t < end; ++t) {
      targets.emplace_back(previous.begin(), previous.begin() + t + 1);
      expected.data()[(t - begin) * end + t] = pair.target[to(t)];
    }
    ForwardOptions options;
    options.gates = Var::leaf(Tensor(Shape{end - begin, end, with_end}, Real{1}));
    const WordScores words = model.forward(padded(sources), padded(targets), options).words;
    at_once = batch_of(n, words.vocabulary());
    const Tensor gradient = backward(words.cross_entropy(expected, {.average = false})).of(options.gates).contiguous();
    for (Index t = begin; t < end; ++t)
      for (Index j = 0; j + 1 < with_end; ++j)
        result.data()[t * (with_end - 1) + j] = std::abs(gradient.data()[((t - begin) * end + t) * with_end + j]);
  }
  return result;
}

Tensor leave_one_out_changes(const Writer& model, const TokenPair& pair) {
  Erasures erasures(model, pair);
  const Index n = erasures.steps(), m = erasures.tokens();
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

ErasureScores erasure_scores(const Writer& model, const TokenPair& pair, const Tensor& weights,
                             std::span<const double> bins) {
  Erasures erasures(model, pair);
  const Index n = erasures.steps(), m = erasures.tokens();
  require(weights.rank() == 2 && weights.size(0) == n && weights.size(1) >= m,
          "[erasure] weights {} do not fit {} target and {} source tokens", weights.shape(), n, m);
  require(!bins.empty(), "[erasure] there are no bins");
  struct Choice {
    Index step;
    std::size_t without, only;
  };
  std::vector<Choice> choices;
  const Tensor plain = weights.contiguous();
  for (Index t = 0; t < n; ++t) {
    const std::vector<Index> order = by_weight(plain.data() + t * plain.size(1), m);
    for (const double bin : bins) {
      require(bin >= 0 && bin <= 1, "[erasure] a bin of {} is no share of the source", bin);
      const auto count = to(static_cast<Index>(std::ceil(bin * static_cast<double>(m) - 1e-9)));
      std::vector<bool> without(to(m), true), only(to(m), false);
      for (std::size_t i = 0; i < count; ++i) without[to(order[i])] = false, only[to(order[i])] = true;
      choices.push_back({t, erasures.keeping(without), erasures.keeping(only)});
    }
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

TraceTrust measure_trust(const TranslationBundle& bundle, const Trace& trace, const TrustOptions& options) {
  TraceTrust trust;
  if (!trace.alignment) return trust;
  const Tensor weights = trace.alignment.contiguous();
  const Index n = trace.row_axis().size(), m = trace.column_axis().size();
  require((weights.shape() == Shape{n, m}), "[trust] an alignment {} of {} target and {} source tokens",
          weights.shape(), n, m);
  trust.entropy = row_entropies(weights);
  if (options.gold) trust.alignment_error = compare_alignment(hard_word_links(trace), *options.gold).error_rate();
  const TokenPair pair = token_ids(bundle, trace);
  if (pair.source.size() < 2 || n == 0) return trust;
  trust.gradient_agreement = mean_agreement(weights, attention_gradients(*bundle.model, pair));
  trust.leave_one_out_agreement = mean_agreement(weights, leave_one_out_changes(*bundle.model, pair));
  const ErasureScores scores = erasure_scores(*bundle.model, pair, weights, options.bins);
  trust.comprehensiveness = scores.comprehensiveness, trust.sufficiency = scores.sufficiency;
  return trust;
}

}  // namespace heed
