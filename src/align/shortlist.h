#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/data/vocabulary.h"
#include "heed/data/word_links.h"

namespace heed {

// How often words were linked with each other, and from that p(target | source), the probabilities of a lexical
// shortlist: Jean, Cho, Memisevic, Bengio 2015, On using very large target vocabulary for neural machine translation,
// section 3.4.
//   p(t | s) = links of s and t / links of s
class LinkCounts {
 public:
  // Links of a pair of sentences, whose words have these numbers. A link outside the sentences is an Error.
  void add(const WordLinks& links, std::span<const std::int32_t> source, std::span<const std::int32_t> target);

  struct Entry {
    std::int32_t source = 0, target = 0;
    float probability = 0;
  };
  // By source words, those of one from the most probable on, equal ones in the order of their numbers: the `best` of
  // each, and of these whose probability is above the threshold.
  std::vector<Entry> entries(std::size_t best, double threshold) const;

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;  // by both numbers
};

// How one number of a vocabulary is written.
using WordOfNumber = std::function<std::string(std::int32_t)>;
// Marian's text form: lines of a target word, a source word and the probability, separated by blanks.
std::string shortlist_text(std::span<const LinkCounts::Entry> entries, const WordOfNumber& source,
                           const WordOfNumber& target);

// Which target words may be written for a source sentence: those that its words are often translated by, the words that
// are written like one of its words, and the most frequent ones. Immutable, and safe to use from several threads.
class Shortlist {
 public:
  struct Limits {
    std::size_t first = 100;  // target words that are always allowed: those of the lowest numbers, the most frequent
    std::size_t best = 100;   // of each source word
    double threshold = 0;     // a translation is no more probable than it is left out
  };

  // `entries` in any order.
  Shortlist(std::vector<LinkCounts::Entry> entries, const Vocabulary& source, const Vocabulary& target,
            const Limits& limits);
  // From a file in Marian's text form (plain or packed) or binary form, whose limits are its own. What is damaged or
  // was made for other vocabularies is an Error that begins with the file's name: of the text form when more than 5 in
  // 100 of its lines have a word that the vocabularies lack.
  static Shortlist read(const std::string& file, const Vocabulary& source, const Vocabulary& target,
                        const Limits& limits);

  // Rising, each once, the symbols among them. Numbers outside the source's vocabulary allow nothing.
  std::vector<std::int32_t> allowed(std::span<const std::int32_t> source) const;

  // Marian's binary form, which is read without looking up words.
  std::string binary() const;
  std::size_t size() const { return targets_.size(); }  // pairs of words

 private:
  Shortlist(const Vocabulary& source, const Vocabulary& target);
  static Shortlist read_text(const std::string& file, const Vocabulary& source, const Vocabulary& target,
                             const Limits& limits);
  static Shortlist read_binary(const std::string& file, std::string_view bytes, const Vocabulary& source,
                               const Vocabulary& target);

  std::size_t target_size_ = 0, first_ = 0, best_ = 0;
  std::vector<std::uint64_t> begins_;  // of each source word's targets, and the end
  std::vector<std::int32_t> targets_;
  std::vector<std::int32_t> same_;  // of each source word the target word that is written alike, or -1
};

}  // namespace heed
