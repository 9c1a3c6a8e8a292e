#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/search/plan.h"

// Searches that go on with one word a row: greedy and sampling.

namespace heed {
namespace {

constexpr double kLeast = -std::numeric_limits<double>::infinity();

// A hypothesis in the making.
struct Path {
  Index source = 0, number = 0;  // which of its source's samples
  std::int32_t row = 0;          // of the last step
  std::int32_t entry = SearchHistory::kStart, word = 0;
  double log_probability = 0;
  double log_sum = 0;  // of its row in the last step
  Index place = 0;     // among its source's paths
};

// pick(path, t, next, allowed) gives the next word of a path, whose row it knows, -1 if none can come; called by many
// threads. `summed`: with probabilities, and an Error where there is NaN.
template <class Pick>
Hypotheses search_by(const SearchPlan& plan, Decoding& decoding, Index samples, bool summed, const Pick& pick) {
  const SearchOptions& options = plan.options();
  Hypotheses result(static_cast<std::size_t>(plan.sources()),
                    std::vector<Hypothesis>(static_cast<std::size_t>(samples)));
  std::vector<Path> paths;
  for (Index i = 0; i < plan.sources(); ++i)
    for (Index k = 0; k < samples; ++k)
      paths.push_back({.source = i, .number = k, .row = static_cast<std::int32_t>(i), .word = options.begin});

  SearchHistory history;
  std::vector<std::int32_t> rows, words;
  for (Index t = 0; !paths.empty(); ++t) {
    rows.clear(), words.clear();
    for (const Path& path : paths) rows.push_back(path.row), words.push_back(path.word);
    select_if_changed(decoding, rows);
    const NextWords next = plan.step(decoding, words, history);
    constexpr Index kWorkOfAThread = 1 << 16;  // numbers looked through
    parallel_for(static_cast<Index>(paths.size()), std::max<Index>(1, kWorkOfAThread / next.vocabulary()),
                 [&](Index begin, Index end) {
                   for (Index i = begin; i < end; ++i) {
                     Path& path = paths[static_cast<std::size_t>(i)];
                     path.row = static_cast<std::int32_t>(i);
                     const std::int32_t forced = plan.forced(path.source, t);
                     path.log_sum = summed ? next.log_sum(i) : 0;
                     const std::vector<std::int32_t> before =
                         plan.unconstrained() ? std::vector<std::int32_t>() : history.words_with(path.entry);
                     const AllowsNext allowed = plan.unconstrained() ? AllowsNext([](std::int32_t) { return true; })
                                                                     : plan.allowed_after(path.source, before);
                     path.word = std::isnan(path.log_sum) ? -1 : forced >= 0 ? forced : pick(path, t, next, allowed);
                   }
                 });
    std::size_t living = 0;
    SearchStep shown;
    const auto show = [&] {
      if (!shown.hypotheses.empty()) options.observer(shown);
      shown.hypotheses.clear();
    };
    for (Path& path : paths) {
      require(path.word >= 0, "[{}] source {}: at word {} no word has a probability; does the model give NaN?",
              plan.who(), path.source, t);
      if (summed) path.log_probability += static_cast<double>(next.of(path.row)[path.word]) - path.log_sum;
      path.entry = history.add(path.entry, path.row, path.word, path.log_probability);
      if (plan.watched()) {
        if (shown.source != path.source) show();
        shown.source = path.source, shown.step = t;
        const Index from = std::exchange(path.place, static_cast<Index>(shown.hypotheses.size()));
        shown.hypotheses.push_back(
            plan.alive(history, path.entry, t == 0 ? 0 : from, path.source, t + 1, path.log_probability));
      }
      if (path.word == options.end)
        result[static_cast<std::size_t>(path.source)][static_cast<std::size_t>(path.number)] =
            plan.hypothesis(history, path.entry, path.source, path.log_probability);
      else
        paths[living++] = path;
    }
    show();
    paths.resize(living);
  }
  return result;
}

std::int32_t likeliest(const Real* log_probabilities, Index vocabulary, const AllowsNext& allowed) {
  std::int32_t best = -1;
  auto most = static_cast<Real>(kLeast);
  for (Index word = 0; word < vocabulary; ++word)
    if (log_probabilities[word] > most && allowed(static_cast<std::int32_t>(word))) {
      most = log_probabilities[word];
      best = static_cast<std::int32_t>(word);
    }
  return best;
}

// Draws words by one number in [0, 1) each.
class Sampler {
 public:
  explicit Sampler(const SearchOptions& options) : options_(options) {}

  std::int32_t draw(const Real* log_probabilities, Index vocabulary, double uniform, const AllowsNext& allowed) const {
    struct Chance {
      double weight;
      std::int32_t word;
      bool operator<(const Chance& other) const {
        return weight < other.weight || (weight == other.weight && word > other.word);
      }
    };
    thread_local std::vector<Chance> chances;
    chances.clear();
    const std::int32_t best = likeliest(log_probabilities, vocabulary, allowed);
    if (best < 0) return -1;
    const auto most = static_cast<double>(log_probabilities[best]);
    for (Index word = 0; word < vocabulary; ++word) {
      const double weight = std::exp((static_cast<double>(log_probabilities[word]) - most) / options_.temperature);
      if (weight > 0 && allowed(static_cast<std::int32_t>(word)))
        chances.push_back({weight, static_cast<std::int32_t>(word)});
    }
    const auto likelier = [](const Chance& a, const Chance& b) { return b < a; };
    if (options_.top_k > 0 && options_.top_k < static_cast<Index>(chances.size())) {
      std::nth_element(chances.begin(), chances.begin() + options_.top_k, chances.end(), likelier);
      chances.resize(static_cast<std::size_t>(options_.top_k));
    }
    const auto sum = [](double total, const Chance& chance) { return total + chance.weight; };
    if (options_.nucleus < 1) {
      const double wanted = options_.nucleus * std::accumulate(chances.begin(), chances.end(), 0.0, sum);
      // A heap gives the likeliest ones in turn without sorting the rest; they gather at the back.
      std::make_heap(chances.begin(), chances.end());
      auto rest = chances.end();
      for (double held = 0; held < wanted && rest != chances.begin(); held += rest->weight)
        std::pop_heap(chances.begin(), rest), --rest;
      chances.erase(chances.begin(), rest);
    }
    double left = uniform * std::accumulate(chances.begin(), chances.end(), 0.0, sum);
    for (const Chance& chance : chances) {
      left -= chance.weight;
      if (left < 0) return chance.word;
    }
    return chances.back().word;  // rounding left a crumb
  }

 private:
  const SearchOptions& options_;
};

}  // namespace

Hypotheses greedy_search(Decoding& decoding, const Ids& lengths, const SearchOptions& options) {
  const SearchPlan plan("greedy_search", decoding, lengths, options);
  const auto pick = [&plan](const Path& path, Index, const NextWords& next, const AllowsNext& allowed) {
    if (const std::int32_t told = next.likeliest(path.row); told >= 0) return told;
    return plan.unconstrained()
               ? static_cast<std::int32_t>(kernels::largest_place(next.vocabulary(), next.of(path.row)))
               : likeliest(next.of(path.row), next.vocabulary(), allowed);
  };
  const bool summed = options.probabilities || plan.watched() || !plan.unconstrained();
  return search_by(plan, decoding, 1, summed, pick);
}

Hypotheses sample_search(Decoding& decoding, const Ids& lengths, const SearchOptions& options) {
  const SearchPlan plan("sample_search", decoding, lengths, options);
  require(options.temperature > 0, "[sample_search] the temperature must be above 0, not {}", options.temperature);
  require(options.top_k >= 0, "[sample_search] top_k must not be negative: {}", options.top_k);
  require(options.nucleus > 0 && options.nucleus <= 1, "[sample_search] the nucleus must be in (0, 1], not {}",
          options.nucleus);
  require(options.sentences.empty() || static_cast<Index>(options.sentences.size()) == plan.sources(),
          "[sample_search] {} sentence numbers for {} sources", options.sentences.size(), plan.sources());
  const RandomKey key{options.seed, 0};
  const Sampler sampler(options);
  const auto pick = [&](const Path& path, Index t, const NextWords& next, const AllowsNext& allowed) {
    const auto source = static_cast<std::size_t>(path.source);
    const std::uint64_t sentence = options.sentences.empty() ? source : options.sentences[source];
    const RandomKey own = key.derive(sentence).derive(static_cast<std::uint64_t>(path.number));
    return sampler.draw(next.of(path.row), next.vocabulary(),
                        RandomSequence(own.derive(static_cast<std::uint64_t>(t))).uniform(), allowed);
  };
  return search_by(plan, decoding, options.best, true, pick);
}

}  // namespace heed
