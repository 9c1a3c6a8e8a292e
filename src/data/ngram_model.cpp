#include "heed/data/ngram_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "heed/base/error.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "grams are written as they lie in memory");

constexpr std::string_view kGramsMagic = "heed n-grams 1\n\n";
constexpr Index kLongestOrder = 32;
constexpr double kUntoldDiscount = 0.5;

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// What was put, from the front of the bytes.
class Taker {
 public:
  Taker(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::string_view take(std::size_t count) {
    require(count <= bytes_.size(), "{}: it is damaged: it ends too early", name_);
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& name_;
};

}  // namespace

// Of a gram, beside what is kept of it.
struct NgramModel::Counts {
  double own = 0;   // a
  double all = 0;   // Σ a of those that go on with one more word
  double kept = 0;  // the same of those that are kept
};

// All stretches of the sentences are sorted by their words; then the places of a gram, of whatever order, are
// neighbours, and grams are counted in one walk over them.
class NgramModel::Learner {
 public:
  Learner(NgramModel& model, std::span<const Words> sentences, const Options& options)
      : model_(model), order_(static_cast<std::size_t>(options.order)), least_(options.least) {
    flatten(sentences, options.vocabulary);
    model_.levels_.resize(order_);
    counts_.resize(order_);
    open_.resize(order_);
    ones_.resize(order_);
    twos_.resize(order_);
    walk();
    set_left();
    for (std::size_t level = 0; level < order_; ++level) set_probabilities(level);
  }

 private:
  // A gram whose places the walk is among.
  struct Open {
    std::int32_t word = 0;
    std::uint32_t rest = 0;  // what the next level had when it was opened
    double count = 0;
    Words before = {};  // the words before its places
    Counts counts = {};
  };

  void flatten(std::span<const Words> sentences, Index vocabulary) {
    for (const Words& sentence : sentences) {
      text_.push_back(kBegin);
      for (const std::int32_t word : sentence) {
        require(word >= 0 && word < vocabulary && word != kBegin && word != kEnd,
                "[ngram_model] {} is no word of a vocabulary of {}", word, vocabulary);
        text_.push_back(word);
      }
      text_.push_back(kEnd);
    }
    require(text_.size() < std::numeric_limits<std::uint32_t>::max(), "[ngram_model] {} words are too many",
            text_.size());
  }

  bool less(std::uint32_t a, std::uint32_t b) const {
    for (std::size_t i = 0; i < order_; ++i) {
      if (text_[a + i] != text_[b + i]) return text_[a + i] < text_[b + i];
      if (text_[a + i] == kEnd) return false;
    }
    return false;
  }
  std::size_t length_at(std::uint32_t place) const {
    std::size_t length = 1;
    while (length < order_ && text_[place + length - 1] != kEnd) ++length;
    return length;
  }

  void walk() {
    std::vector<std::uint32_t> places(text_.size());
    std::iota(places.begin(), places.end(), 0U);
    std::sort(places.begin(), places.end(), [this](std::uint32_t a, std::uint32_t b) { return less(a, b); });
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint32_t place = places[i];
      const std::size_t length = length_at(place);
      std::size_t common = 0;
      if (i > 0)
        while (common < std::min(length, depth_) && text_[place + common] == text_[places[i - 1] + common]) ++common;
      while (depth_ > common) close();
      while (depth_ < length) open(text_[place + depth_]);
      for (std::size_t level = 0; level < depth_; ++level) {
        ++open_[level].count;
        if (text_[place] != kBegin) open_[level].before.push_back(text_[place - 1]);
      }
    }
    while (depth_ > 0) close();
    for (std::size_t level = 0; level < order_; ++level)
      model_.levels_[level].push_back({.rest = level + 1 < order_ ? size_of(level + 1) : 0});
  }

  std::uint32_t size_of(std::size_t level) const { return static_cast<std::uint32_t>(model_.levels_[level].size()); }

  void open(std::int32_t word) {
    open_[depth_] = {.word = word, .rest = depth_ + 1 < order_ ? size_of(depth_ + 1) : 0};
    ++depth_;
  }

  void close() {
    const std::size_t level = --depth_;
    Open& gram = open_[level];
    Counts& history = level > 0 ? open_[level - 1].counts : none_;
    if (level == 0 && gram.word == kBegin) {
      keep(level, gram);  // a history, never a word that comes
      return;
    }
    gram.counts.own = gram.count;
    if (level + 1 < order_ && open_.front().word != kBegin) {
      std::sort(gram.before.begin(), gram.before.end());
      gram.counts.own = static_cast<double>(std::unique(gram.before.begin(), gram.before.end()) - gram.before.begin());
    }
    if (gram.counts.own == 1) ++ones_[level];
    if (gram.counts.own == 2) ++twos_[level];
    history.all += gram.counts.own;
    // What goes on with a rare gram is as rare, and left out already.
    if (level >= 2 && gram.count < static_cast<double>(least_)) return;
    history.kept += gram.counts.own;
    keep(level, gram);
  }

  void keep(std::size_t level, const Open& gram) {
    model_.levels_[level].push_back({.word = gram.word, .rest = gram.rest});
    counts_[level].push_back(gram.counts);
  }

  double discount(std::size_t level) const {
    return ones_[level] > 0 ? ones_[level] / (ones_[level] + 2 * twos_[level]) : kUntoldDiscount;
  }

  // γ of a history: what its `kept` grams of the next level, so many, leave of 1.
  double left_of(const Counts& history, std::size_t next_level, double grams) const {
    return history.all > 0 ? (history.all - history.kept + discount(next_level) * grams) / history.all : 1;
  }

  void set_left() {
    const Level& words = model_.levels_.front();
    const bool begins =
        std::any_of(words.begin(), words.end() - 1, [](const Gram& gram) { return gram.word == kBegin; });
    model_.left_ = left_of(none_, 0, static_cast<double>(words.size() - 1 - (begins ? 1 : 0)));
    for (std::size_t level = 0; level + 1 < order_; ++level)
      for (std::size_t i = 0; i < counts_[level].size(); ++i) {
        const double grams = model_.levels_[level][i + 1].rest - model_.levels_[level][i].rest;
        model_.levels_[level][i].left = static_cast<float>(left_of(counts_[level][i], level + 1, grams));
      }
  }

  // Of the grams of a level, when those of the levels above it have theirs.
  void set_probabilities(std::size_t level) {
    Words words;
    set_probabilities(level, 0, 0, model_.levels_.front().size() - 1, none_, model_.left_, words);
  }
  void set_probabilities(std::size_t wanted, std::size_t level, std::size_t first, std::size_t last,
                         const Counts& history, double left, Words& words) {
    for (std::size_t i = first; i < last; ++i) {
      Gram& gram = model_.levels_[level][i];
      words.push_back(gram.word);
      if (level < wanted) {
        set_probabilities(wanted, level + 1, gram.rest, model_.levels_[level][i + 1].rest, counts_[level][i],
                          static_cast<double>(gram.left), words);
      } else if (level > 0 || gram.word != kBegin) {
        const double shorter =
            level == 0 ? model_.uniform() : model_.probability(std::span(words).subspan(1, level - 1), gram.word);
        gram.probability = static_cast<float>((counts_[level][i].own - discount(level)) / history.all + left * shorter);
      }
      words.pop_back();
    }
  }

  NgramModel& model_;
  std::size_t order_;
  Index least_;
  Words text_;  // sentence after sentence
  std::vector<Open> open_;
  std::size_t depth_ = 0;  // how many of them are
  Counts none_;            // of no history
  std::vector<std::vector<Counts>> counts_;
  std::vector<double> ones_, twos_;  // n1 and n2
};

NgramModel::NgramModel(std::span<const Words> sentences, const Options& options) : vocabulary_(options.vocabulary) {
  require(options.order >= 1 && options.order <= kLongestOrder, "[ngram_model] the order {} is not 1 to {}",
          options.order, kLongestOrder);
  require(options.vocabulary > kEnd, "[ngram_model] a vocabulary of {} lacks the symbols", options.vocabulary);
  Learner(*this, sentences, options);
}

std::int64_t NgramModel::child(std::size_t level, std::int64_t parent, std::int32_t word) const {
  const Level& grams = levels_[level];
  const auto first = grams.begin() + (level == 0 ? 0 : levels_[level - 1][static_cast<std::size_t>(parent)].rest);
  const auto last =
      level == 0 ? grams.end() - 1 : grams.begin() + levels_[level - 1][static_cast<std::size_t>(parent) + 1].rest;
  const auto found =
      std::lower_bound(first, last, word, [](const Gram& gram, std::int32_t w) { return gram.word < w; });
  return found != last && found->word == word ? found - grams.begin() : -1;
}

std::int64_t NgramModel::find(std::span<const std::int32_t> words) const {
  std::int64_t gram = -1;
  for (std::size_t level = 0; level < words.size(); ++level)
    if (gram = child(level, gram, words[level]); gram < 0) break;
  return gram;
}

double NgramModel::probability(std::span<const std::int32_t> history, std::int32_t word) const {
  double left = 1;
  for (std::size_t words = std::min(levels_.size() - 1, history.size()); words > 0; --words) {
    const std::int64_t gram = find(history.last(words));
    if (gram < 0) continue;
    if (const std::int64_t longer = child(words, gram, word); longer >= 0)
      return left * static_cast<double>(levels_[words][static_cast<std::size_t>(longer)].probability);
    left *= static_cast<double>(levels_[words - 1][static_cast<std::size_t>(gram)].left);
  }
  if (const std::int64_t gram = child(0, -1, word); gram >= 0)
    return left * static_cast<double>(levels_.front()[static_cast<std::size_t>(gram)].probability);
  return left * left_ * uniform();
}

double NgramModel::log_probability(std::span<const std::int32_t> sentence) const {
  Words words{kBegin};
  words.insert(words.end(), sentence.begin(), sentence.end());
  words.push_back(kEnd);
  double sum = 0;
  for (std::size_t i = 1; i < words.size(); ++i) sum += std::log(probability(std::span(words).first(i), words[i]));
  return sum;
}

std::string NgramModel::bytes() const {
  static_assert(sizeof(Gram) == 16 && std::is_trivially_copyable_v<Gram>);
  std::string bytes(kGramsMagic);
  put(bytes, static_cast<std::uint64_t>(levels_.size()));
  put(bytes, static_cast<std::uint64_t>(vocabulary_));
  put(bytes, left_);
  for (const Level& level : levels_) {
    put(bytes, static_cast<std::uint64_t>(level.size()));
    bytes.append(reinterpret_cast<const char*>(level.data()), level.size() * sizeof(Gram));
  }
  return bytes;
}

NgramModel::NgramModel(std::string_view bytes, const std::string& name) {
  Taker taker(bytes, name);
  const auto fits = [&name](bool ok) { require(ok, "{}: it is damaged: its n-grams do not fit together", name); };
  require(bytes.starts_with(kGramsMagic), "{}: it has no n-grams of this version", name);
  taker.take(kGramsMagic.size());
  const auto order = taker.take<std::uint64_t>(), vocabulary = taker.take<std::uint64_t>();
  fits(order >= 1 && order <= kLongestOrder && vocabulary > kEnd &&
       vocabulary <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()));
  vocabulary_ = static_cast<Index>(vocabulary);
  left_ = taker.take<double>();
  const auto is_share = [](double value) { return value >= 0 && value <= 1 + 1e-6; };
  fits(is_share(left_));
  for (std::uint64_t level = 0; level < order; ++level) {
    const auto grams = taker.take<std::uint64_t>();
    fits(grams >= 1 && grams <= taker.left() / sizeof(Gram));
    Level& list = levels_.emplace_back(grams);
    std::memcpy(list.data(), taker.take(grams * sizeof(Gram)).data(), grams * sizeof(Gram));
  }
  fits(taker.left() == 0);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const Level& grams = levels_[level];
    const std::size_t next = level + 1 < levels_.size() ? levels_[level + 1].size() - 1 : 0;
    fits(grams.front().rest == 0 && grams.back().rest == next);
    for (std::size_t i = 0; i + 1 < grams.size(); ++i) {
      fits(grams[i].rest <= grams[i + 1].rest && grams[i].word >= 0 && grams[i].word < vocabulary_ &&
           is_share(static_cast<double>(grams[i].probability)) && is_share(static_cast<double>(grams[i].left)));
      const std::size_t first = grams[i].rest, last = std::min<std::size_t>(grams[i + 1].rest, next);
      for (std::size_t k = first + 1; k < last; ++k) fits(levels_[level + 1][k - 1].word < levels_[level + 1][k].word);
    }
  }
  for (std::size_t i = 0; i + 2 < levels_.front().size(); ++i)
    fits(levels_.front()[i].word < levels_.front()[i + 1].word);
}

}  // namespace heed
