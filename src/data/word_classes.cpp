#include "heed/data/word_classes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

using WordIds = std::vector<std::int32_t>;

constexpr std::int32_t kFirstWord = kEnd + 1;
constexpr Index kFewestWords = 10;  // of a class, at the mean

// n log n, of counts that come again and again.
class Entropy {
 public:
  Entropy() : small_(1 << 16) {
    for (std::size_t n = 2; n < small_.size(); ++n) small_[n] = of(static_cast<double>(n));
  }
  double operator()(std::int64_t n) const {
    return n < static_cast<std::int64_t>(small_.size()) ? small_[static_cast<std::size_t>(n)]
                                                        : of(static_cast<double>(n));
  }

 private:
  static double of(double n) { return n * std::log(n); }
  std::vector<double> small_;
};

// A word that stands before another, and how often.
struct Before {
  std::int32_t word;
  std::int32_t count;
};

class Exchange {
 public:
  Exchange(std::span<const WordIds> sentences, const WordClassOptions& options)
      : befores_(static_cast<std::size_t>(options.vocabulary)),
        counts_(static_cast<std::size_t>(options.vocabulary)),
        class_of_(static_cast<std::size_t>(options.vocabulary), kUnknown) {
    count(sentences);
    for (std::int32_t word = kFirstWord; word < options.vocabulary; ++word)
      if (counts_[at(word)] > 0) words_.push_back(word);
    std::stable_sort(words_.begin(), words_.end(),
                     [this](std::int32_t a, std::int32_t b) { return counts_[at(a)] > counts_[at(b)]; });
    classes_ = std::clamp<Index>(static_cast<Index>(words_.size()) / kFewestWords, 1, options.classes);
    begin();
    for (Index round = 0; round < options.rounds && move_all(); ++round) {
    }
  }

  WordIds classes() && { return std::move(class_of_); }

 private:
  static std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

  void count(std::span<const WordIds> sentences) {
    std::vector<WordIds> before(befores_.size());
    for (const WordIds& sentence : sentences) {
      std::int32_t last = kBegin;
      for (const std::int32_t word : sentence) {
        require(word >= 0 && at(word) < before.size(), "[word_classes] {} is no word of a vocabulary of {}", word,
                before.size());
        before[at(word)].push_back(std::exchange(last, word));
        ++counts_[at(word)];
      }
    }
    for (std::size_t word = 0; word < before.size(); ++word) {
      std::sort(before[word].begin(), before[word].end());
      for (const std::int32_t v : before[word]) {
        if (befores_[word].empty() || befores_[word].back().word != v) befores_[word].push_back({v, 0});
        ++befores_[word].back().count;
      }
      before[word] = {};
    }
  }

  // The n-th frequent word is in class n, or what is left of n when the classes are counted round and round.
  void begin() {
    behind_.assign(befores_.size() * static_cast<std::size_t>(classes_), 0);
    sizes_.assign(static_cast<std::size_t>(classes_), 0);
    for (std::size_t n = 0; n < words_.size(); ++n) {
      const auto own = static_cast<std::int32_t>(n % static_cast<std::size_t>(classes_));
      class_of_[at(words_[n])] = kFirstWord + own;
      add(words_[n], own, 1);
    }
    for (const std::int32_t symbol : {kUnknown, kBegin, kEnd})
      if (at(symbol) < class_of_.size()) class_of_[at(symbol)] = symbol;
  }

  std::int32_t* behind(std::int32_t word) { return behind_.data() + at(word) * static_cast<std::size_t>(classes_); }

  void add(std::int32_t word, std::int32_t to, std::int32_t sign) {
    for (const Before& before : befores_[at(word)]) behind(before.word)[to] += sign * before.count;
    sizes_[at(to)] += sign * counts_[at(word)];
  }

  bool move_all() {
    bool moved = false;
    for (const std::int32_t word : words_) {
      const std::int32_t own = class_of_[at(word)] - kFirstWord;
      add(word, own, -1);
      const std::int32_t best = best_class(word, own);
      add(word, best, 1);
      class_of_[at(word)] = kFirstWord + best;
      moved = moved || best != own;
    }
    return moved;
  }

  // Of equal ones the word's own, so that it does not go round.
  std::int32_t best_class(std::int32_t word, std::int32_t own) {
    // What the likelihood gains by the word's coming, but for what it gains in an empty class.
    gains_.assign(static_cast<std::size_t>(classes_), 0);
    for (const Before& before : befores_[at(word)]) {
      const std::int32_t* counts = behind(before.word);
      for (std::size_t c = 0; c < gains_.size(); ++c)
        if (counts[c] > 0)
          gains_[c] += entropy_(counts[c] + before.count) - entropy_(counts[c]) - entropy_(before.count);
    }
    for (std::size_t c = 0; c < gains_.size(); ++c)
      gains_[c] -= entropy_(sizes_[c] + counts_[at(word)]) - entropy_(sizes_[c]);
    std::int32_t best = own;
    for (std::size_t c = 0; c < gains_.size(); ++c)
      if (gains_[c] > gains_[at(best)] + 1e-9) best = static_cast<std::int32_t>(c);
    return best;
  }

  std::vector<std::vector<Before>> befores_;  // of each word those before it
  std::vector<std::int64_t> counts_;          // of each word
  WordIds class_of_, words_;                  // words_: those that move, the most frequent first
  Index classes_ = 0;
  std::vector<std::int32_t> behind_;  // [word, class]: how often one of the class follows the word
  std::vector<std::int64_t> sizes_;   // of the classes, in words of the texts
  std::vector<double> gains_;
  Entropy entropy_;
};

}  // namespace

std::vector<std::int32_t> word_classes(std::span<const WordIds> sentences, const WordClassOptions& options) {
  require(options.vocabulary >= kFirstWord && options.classes >= 1, "[word_classes] {} classes of {} words cannot be",
          options.classes, options.vocabulary);
  return Exchange(sentences, options).classes();
}

}  // namespace heed
