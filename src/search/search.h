#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "heed/search/decoding.h"

// Search for the best continuations of a decoding in progress, many sources at once. A source whose search has ended
// gives its rows back, so the work shrinks; nothing of a result depends on the source's neighbours in the batch.

namespace heed {

// When beam search leaves a source, besides the longest length (Kasai et al. 2022 compare the two).
enum class Stopping {
  certain,    // nothing in the beam can still become better than what is kept
  beam_full,  // as many hypotheses as the beam is wide have ended: sooner, and sometimes too soon
};

// What a search shows of one source after each of its steps.
struct SearchStep {
  struct Alive {
    std::int32_t word = 0;               // that it was continued with
    Index from = 0;                      // its place in the list of the step before; 0 at the first
    double log_probability = 0;          // of all its words
    double score = 0;                    // with the penalties, of its length so far
    bool ended = false;                  // the word was the end
    std::span<const Real> weights = {};  // over the source when the word was predicted; gone after the call
  };
  Index source = 0, step = 0;
  std::vector<Alive> hypotheses = {};  // likeliest first from beam search; greedy search has one
};
// Called in the thread of the search; what it throws ends the search.
using SearchObserver = std::function<void(const SearchStep&)>;

// Which words, the end among others, may follow those of a source so far: made once for every hypothesis and step,
// since it is asked about many words. The words stay as long as it is asked. Many threads ask.
using AllowsNext = std::function<bool(std::int32_t next)>;
using SearchConstraint = std::function<AllowsNext(Index source, std::span<const std::int32_t> words)>;

struct SearchOptions {
  Index beam = 5;
  Index best = 1;               // hypotheses wanted a source: at most `beam` from beam search, any number of samples
  double length_penalty = 0.6;  // α of Wu et al. 2016; 0: none
  double bonus = 0;             // the most that a word may gain: 0 where words' scores are log-probabilities
  double coverage_penalty = 0;  // β of Wu et al. 2016; 0: none. Needs a model with attention
  Stopping stopping = Stopping::certain;
  // At most longest_factor · (source length) + longest_extra words; then comes the end, whatever the model says.
  double longest_factor = 2;
  Index longest_extra = 10;
  bool probabilities = true;  // false: greedy search may give 0 for them and for scores, and spare their sum over words
  bool forbid_unknown = false;
  Index no_repeat = 0;           // no n-gram of so many words comes twice (Paulus et al. 2018 take 3); 0: all may
  SearchConstraint allows = {};  // words of prefixes and the end of what is too long are not asked for
  std::int32_t unknown = 0, begin = 1, end = 2;
  // The words that every hypothesis of a source begins with: one list a source, or none at all.
  std::vector<std::vector<std::int32_t>> prefixes = {};

  // Sampling only. A word is drawn from softmax(log p / temperature), cut to the top_k likeliest words (0: all), then
  // to the fewest of these that hold `nucleus` of the probability (Holtzman et al. 2020).
  double temperature = 1;
  Index top_k = 0;
  double nucleus = 1;
  std::uint64_t seed = 1;
  std::vector<std::uint64_t> sentences = {};  // a number a source, that its samples depend on; empty: 0, 1, 2...

  SearchObserver observer = {};  // sees the hypotheses of every step; a search without one does nothing for it

  // Whether any word may come at any place where none is forced.
  bool unconstrained() const { return !forbid_unknown && no_repeat == 0 && !allows; }
  // Whether greedy search with these options asks a decoding for nothing but the likeliest next word.
  bool likeliest_alone() const { return !probabilities && !observer && unconstrained() && prefixes.empty(); }
};

struct Hypothesis {
  std::vector<std::int32_t> words;        // n words, without begin and end, with the prefix
  double log_probability = 0;             // of the words and the end, under the model
  double score = 0;                       // log_probability / length penalty + coverage penalty
  bool finished = true;                   // false: the end was set because the longest length was reached
  Tensor weights;                         // [n + 1, m] over the source, with the end's row; empty without attention
  std::vector<double> log_probabilities;  // of each word, and of the end
  std::vector<double> generates = {};     // the share of each that was not copied; empty of a model that does not copy
};

// What each source of `decoding` was continued with, best first. `lengths` [sources] are the sources' lengths, which
// bound the length of what is written and the width of the weights. The decoding must be fresh, and is used up.
using Hypotheses = std::vector<std::vector<Hypothesis>>;

// The likeliest word at every step; one hypothesis a source.
Hypotheses greedy_search(Decoding& decoding, const Ids& lengths, const SearchOptions& options = {});
// Of all continuations of the hypotheses in the beam, the `beam` likeliest; those that end leave it (Sutskever et al.
// 2014). The kept ones are ranked by score.
Hypotheses beam_search(Decoding& decoding, const Ids& lengths, const SearchOptions& options = {});
// `best` independent samples a source, in the order drawn. Sample i of a sentence is a function of the seed, the
// sentence's number and i alone.
Hypotheses sample_search(Decoding& decoding, const Ids& lengths, const SearchOptions& options = {});

// ((5 + |Y|) / 6)^α of Wu et al. 2016, equation 14; |Y| counts the end.
double length_penalty(Index length, double alpha);
// β Σ_j log(min(Σ_t a_tj, 1)) of Wu et al. 2016, equation 14, of weights [n, m]. What was hardly looked at counts as
// looked at with weight 1e-6, so that exact zeros can be compared.
double coverage_penalty(const Tensor& weights, double beta);

}  // namespace heed
