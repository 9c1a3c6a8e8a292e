#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/search/plan.h"

namespace heed {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Candidate {
  double log_probability;
  std::int32_t row, word;
};

// The likeliest `most` candidates above a floor, best first; of equals the first one seen stands first.
class LikeliestCandidates {
 public:
  void reset(Index most, double floor) {
    most_ = static_cast<std::size_t>(most);
    floor_ = floor;
    found_.clear();
  }
  // All words of one row that are allowed: words[word] + base. Of most words nobody asks whether they are.
  template <class Allowed>
  void offer_row(std::int32_t row, double base, const Real* words, Index vocabulary, const Allowed& allowed) {
    Index word = 0;
    for (; word + kBlock <= vocabulary; word += kBlock)
      if (any_above(words + word, loosened(bar() - base))) offer_words(row, base, words, word, word + kBlock, allowed);
    offer_words(row, base, words, word, vocabulary, allowed);
  }
  void offer(const Candidate& candidate) {
    if (!(candidate.log_probability > bar())) return;
    if (found_.size() == most_) found_.pop_back();
    const auto better = [](const Candidate& a, const Candidate& b) { return a.log_probability > b.log_probability; };
    found_.insert(std::upper_bound(found_.begin(), found_.end(), candidate, better), candidate);
  }
  // Takes it whatever its probability.
  void force(const Candidate& candidate) { found_.push_back(candidate); }
  const std::vector<Candidate>& found() const { return found_; }

 private:
  static constexpr Index kBlock = 64;  // long enough for vectors, short enough to look through again

  double bar() const { return found_.size() == most_ ? std::max(floor_, found_.back().log_probability) : floor_; }
  // Lower by more than rounding to Real can raise it.
  static Real loosened(double x) { return static_cast<Real>(x - 1e-6 * std::max(1.0, std::abs(x))); }
  // Nearly all blocks of a large vocabulary hold nothing of interest. A loop of this form becomes vectors.
  static bool any_above(const Real* x, Real bar) {
    int found = 0;
    for (Index i = 0; i < kBlock; ++i) found |= static_cast<int>(x[i] > bar);
    return found != 0;
  }
  template <class Allowed>
  void offer_words(std::int32_t row, double base, const Real* words, Index start, Index stop, const Allowed& allowed) {
    for (Index word = start; word < stop; ++word) {
      const Candidate candidate{base + static_cast<double>(words[word]), row, static_cast<std::int32_t>(word)};
      if (candidate.log_probability > bar() && allowed(candidate.word)) offer(candidate);
    }
  }

  std::size_t most_ = 1;
  double floor_ = kNever;
  std::vector<Candidate> found_;
};

// One source's part of the search.
struct SourceSearch {
  struct Live {
    double log_probability;
    std::int32_t entry, word;  // of its last word
    std::int32_t row;          // of the step that predicted it
    Index place = 0;           // among the candidates of that step
  };
  struct Ended {
    double score, log_probability;
    std::int32_t entry;
  };
  std::vector<Live> beam, before;  // now and a step ago, likeliest first
  Index first_row = 0;             // the beam's rows stand together
  LikeliestCandidates candidates;
  std::vector<Ended> kept;  // best first, no more than are wanted
  Index ended = 0;          // how many, kept or not
};

class BeamSearch {
 public:
  BeamSearch(Decoding& decoding, const Ids& lengths, const SearchOptions& options)
      : decoding_(decoding), options_(options), plan_("beam_search", decoding, lengths, options) {
    require(options.best <= options.beam, "[beam_search] a beam of {} does not give the {} best", options.beam,
            options.best);
    searches_.resize(static_cast<std::size_t>(plan_.sources()));
    for (Index i = 0; i < plan_.sources(); ++i)
      of(i).beam = {{0, SearchHistory::kStart, options.begin, static_cast<std::int32_t>(i)}};
  }

  Hypotheses run() {
    for (Index t = 0; arrange_rows(); ++t) {
      const NextWords next = plan_.step(decoding_, words_, history_);
      const Index grain = std::max<Index>(1, kWorkOfAThread / (options_.beam * next.vocabulary()));
      parallel_for(static_cast<Index>(active_.size()), grain, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) choose(active_[static_cast<std::size_t>(i)], t, next);
      });
      for (const Index source : active_) advance(source, t);
    }
    Hypotheses result(searches_.size());
    for (Index i = 0; i < plan_.sources(); ++i)
      for (const SourceSearch::Ended& ended : of(i).kept)
        result[static_cast<std::size_t>(i)].push_back(
            plan_.hypothesis(history_, ended.entry, i, ended.log_probability));
    return result;
  }

 private:
  static constexpr Index kWorkOfAThread = 1 << 16;  // numbers looked through

  SourceSearch& of(Index source) { return searches_[static_cast<std::size_t>(source)]; }

  // Gives every live hypothesis its row and previous word; false if there is none.
  bool arrange_rows() {
    active_.clear();
    rows_.clear();
    words_.clear();
    for (Index i = 0; i < plan_.sources(); ++i) {
      if (of(i).beam.empty()) continue;
      active_.push_back(i);
      of(i).first_row = static_cast<Index>(rows_.size());
      for (const SourceSearch::Live& live : of(i).beam) {
        rows_.push_back(live.row);
        words_.push_back(live.word);
      }
    }
    if (rows_.empty()) return false;
    select_if_changed(decoding_, rows_);
    return true;
  }

  // What a log-probability must exceed to become one of the kept hypotheses, were it to lose nothing more on its way to
  // the longest length, where it is divided by the most and has gained what can be gained.
  double floor_of(const SourceSearch& search, Index source) const {
    if (static_cast<Index>(search.kept.size()) < options_.best) return kNever;
    const Index longest = plan_.longest(source) + 1;
    return search.kept.back().score * length_penalty(longest, options_.length_penalty) -
           options_.bonus * static_cast<double>(longest);
  }

  void choose(Index source, Index t, const NextWords& next) {
    SourceSearch& search = of(source);
    search.candidates.reset(options_.beam, floor_of(search, source));
    const std::int32_t forced = plan_.forced(source, t);
    for (std::size_t i = 0; i < search.beam.size(); ++i) {
      const Index row = search.first_row + static_cast<Index>(i);
      const Real* words = next.of(row);
      const double base = search.beam[i].log_probability - next.log_sum(row);
      const auto number = static_cast<std::int32_t>(row);
      if (forced >= 0) {
        search.candidates.force({base + static_cast<double>(words[forced]), number, forced});
      } else if (plan_.unconstrained()) {
        search.candidates.offer_row(number, base, words, next.vocabulary(), [](std::int32_t) { return true; });
      } else {
        const std::vector<std::int32_t> before = history_.words_with(search.beam[i].entry);
        const AllowsNext allowed = plan_.allowed_after(source, before);
        search.candidates.offer_row(number, base, words, next.vocabulary(), allowed);
      }
    }
  }

  // The candidates become the next beam, but for those that end.
  void advance(Index source, Index t) {
    SourceSearch& search = of(source);
    search.before.swap(search.beam);
    search.beam.clear();
    SearchStep shown{.source = source, .step = t};
    Index place = 0;
    for (const Candidate& candidate : search.candidates.found()) {
      const SourceSearch::Live& parent = search.before[static_cast<std::size_t>(candidate.row - search.first_row)];
      const double log_probability = candidate.log_probability;
      const std::int32_t entry = history_.add(parent.entry, candidate.row, candidate.word, log_probability);
      if (plan_.watched())
        shown.hypotheses.push_back(plan_.alive(history_, entry, parent.place, source, t + 1, log_probability));
      if (candidate.word == options_.end)
        keep(search, entry, source, t + 1, log_probability);
      else
        search.beam.push_back({log_probability, entry, candidate.word, candidate.row, place});
      ++place;
    }
    if (plan_.watched()) options_.observer(shown);
    require(!search.beam.empty() || !search.kept.empty(),
            "[beam_search] source {}: at word {} no word has a probability; does the model give NaN?", source, t);
    // The floor rises with what was kept just now.
    const double floor = floor_of(search, source);
    while (!search.beam.empty() && search.beam.back().log_probability <= floor) search.beam.pop_back();
    if (options_.stopping == Stopping::beam_full && search.ended >= options_.beam) search.beam.clear();
  }

  void keep(SourceSearch& search, std::int32_t entry, Index source, Index length, double log_probability) {
    ++search.ended;
    const SourceSearch::Ended ended{plan_.score(history_, entry, source, length, log_probability), log_probability,
                                    entry};
    const auto better = [](const SourceSearch::Ended& a, const SourceSearch::Ended& b) { return a.score > b.score; };
    search.kept.insert(std::upper_bound(search.kept.begin(), search.kept.end(), ended, better), ended);
    if (static_cast<Index>(search.kept.size()) > options_.best) search.kept.pop_back();
  }

  Decoding& decoding_;
  const SearchOptions& options_;
  const SearchPlan plan_;
  SearchHistory history_;
  std::vector<SourceSearch> searches_;
  std::vector<Index> active_;        // sources whose search goes on
  std::vector<std::int32_t> rows_;   // of the last step, that the rows of the next one go on from
  std::vector<std::int32_t> words_;  // the last word of each
};

}  // namespace

Hypotheses beam_search(Decoding& decoding, const Ids& lengths, const SearchOptions& options) {
  return BeamSearch(decoding, lengths, options).run();
}

}  // namespace heed
