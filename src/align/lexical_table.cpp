#include "heed/align/lexical_table.h"

#include <atomic>
#include <cassert>
#include <cmath>
#include <numeric>

#include "heed/align/digamma.h"
#include "heed/align/share_work.h"
#include "heed/base/threads.h"

namespace heed {
namespace {

constexpr std::size_t kRowsOfBlock = 64;

// The sentences in which each word stands, each once.
struct Occurrences {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint32_t> sentences;

  explicit Occurrences(const NumberedSentences& text) : begins(text.vocabulary() + 1) {
    const auto each = [&](const auto& use) {
      std::vector<std::uint32_t> seen(text.vocabulary(), 0);  // the sentence, from 1, in which a word stood last
      for (std::size_t n = 0; n < text.size(); ++n)
        for (const std::int32_t word : text[n]) {
          std::uint32_t& last = seen[static_cast<std::size_t>(word)];
          if (last != n + 1) use(static_cast<std::size_t>(word), n);
          last = static_cast<std::uint32_t>(n + 1);
        }
    };
    each([&](std::size_t word, std::size_t) { ++begins[word + 1]; });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    sentences.resize(begins.back());
    std::vector<std::uint64_t> next(begins.begin(), begins.end() - 1);
    each([&](std::size_t word, std::size_t n) { sentences[next[word]++] = static_cast<std::uint32_t>(n); });
  }
  std::span<const std::uint32_t> of(std::size_t word) const {
    return std::span(sentences).subspan(begins[word], begins[word + 1] - begins[word]);
  }
};

// Finds the words of `written` that stand beside a word of `given`, each once, in the order in which they come first.
class Partners {
 public:
  Partners(const Occurrences& given, const NumberedSentences& written)
      : given_(&given), written_(&written), seen_(written.vocabulary(), -1) {
    found_.reserve(written.vocabulary());
  }
  std::span<const std::int32_t> of(std::size_t word) {
    found_.clear();
    ++round_;
    for (const std::uint32_t sentence : given_->of(word))
      for (const std::int32_t partner : (*written_)[sentence]) {
        std::int64_t& last = seen_[static_cast<std::size_t>(partner)];
        if (last != round_) found_.push_back(partner);
        last = round_;
      }
    return found_;
  }

 private:
  const Occurrences* given_;
  const NumberedSentences* written_;
  std::vector<std::int64_t> seen_;  // the round in which each word was found last
  std::int64_t round_ = 0;
  std::vector<std::int32_t> found_;
};

std::uint64_t row_size(std::size_t words) { return words + words / 3 + 1; }

}  // namespace

LexicalTable::LexicalTable(const NumberedSentences& given, const NumberedSentences& written)
    : begins_(given.vocabulary() + 2) {
  assert(given.size() == written.size());
  const Occurrences occurrences(given);
  begins_[1] = row_size(written.vocabulary());
  std::vector<std::uint32_t> sizes(given.vocabulary());
  std::vector<Partners> workers(static_cast<std::size_t>(thread_count()), Partners(occurrences, written));
  share_work(sizes.size(), kRowsOfBlock, std::span(workers), [&](Partners& partners, std::size_t word) {
    sizes[word] = static_cast<std::uint32_t>(partners.of(word).size());
  });
  for (std::size_t word = 0; word < sizes.size(); ++word) begins_[word + 2] = begins_[word + 1] + row_size(sizes[word]);
  pairs_ = std::accumulate(sizes.begin(), sizes.end(), written.vocabulary());
  cells_.resize(begins_.back());
  counts_.resize(begins_.back());
  std::vector<std::int32_t> all(written.vocabulary());
  std::iota(all.begin(), all.end(), 0);
  fill_row(0, all);
  share_work(sizes.size(), kRowsOfBlock, std::span(workers),
             [&](Partners& partners, std::size_t word) { fill_row(word + 1, partners.of(word)); });
}

void LexicalTable::fill_row(std::size_t row, std::span<const std::int32_t> written) {
  const std::uint64_t begin = begins_[row], size = begins_[row + 1] - begin;
  const float uniform = 1 / static_cast<float>(std::max<std::size_t>(written.size(), 1));
  for (const std::int32_t word : written) {
    std::uint64_t at = slot(word, size);
    while (cells_[begin + at].written >= 0) at = at + 1 == size ? 0 : at + 1;
    cells_[begin + at] = {word, uniform};
  }
}

// Multiplicative hashing (Knuth 6.4), brought to the size of the row by its upper bits.
std::uint64_t LexicalTable::slot(std::int32_t written, std::uint64_t size) {
  const auto mixed = static_cast<std::uint32_t>(written) * 0x9e3779b1U;
  return (static_cast<std::uint64_t>(mixed) * size) >> 32U;
}

LexicalTable::Row LexicalTable::row(std::int32_t given) const {
  const auto at = static_cast<std::size_t>(given + 1);
  if (at + 1 >= begins_.size()) return {};
  return {begins_[at], begins_[at + 1] - begins_[at]};
}

std::uint64_t LexicalTable::find(Row row, std::int32_t written, std::uint64_t at) const {
  while (true) {
    const std::int32_t here = cells_[row.begin + at].written;
    if (here == written) return row.begin + at;
    if (here < 0) return kNoCell;  // a row is never full
    at = at + 1 == row.size ? 0 : at + 1;
  }
}

void LexicalTable::find(NumberedSentences::Sentence given, NumberedSentences::Sentence written,
                        std::span<std::uint64_t> cells, std::span<float> probabilities) const {
  const std::size_t columns = given.size() + 1;
  // All places are asked for before the first is read, so that the memory answers many at a time.
  for (std::size_t i = 0; i < columns; ++i) {
    const Row from = row(i == 0 ? -1 : given[i - 1]);
    for (std::size_t j = 0; j < written.size(); ++j) {
      const std::uint64_t at = from.size == 0 ? kNoCell : from.begin + slot(written[j], from.size);
      cells[j * columns + i] = at;
      if (at != kNoCell) __builtin_prefetch(&cells_[at]);
    }
  }
  for (std::size_t i = 0; i < columns; ++i) {
    const Row from = row(i == 0 ? -1 : given[i - 1]);
    for (std::size_t j = 0; j < written.size(); ++j) {
      std::uint64_t& at = cells[j * columns + i];
      if (at != kNoCell) at = find(from, written[j], at - from.begin);
      probabilities[j * columns + i] = at == kNoCell ? kLeast : cells_[at].probability;
    }
  }
}

void LexicalTable::count(std::span<const std::uint64_t> cells, std::span<const float> shares) {
  for (std::size_t k = 0; k < cells.size(); ++k)
    if (shares[k] >= kNegligible && cells[k] != kNoCell)
      std::atomic_ref(counts_[cells[k]]).fetch_add(to_expected(shares[k]), std::memory_order_relaxed);
}

void LexicalTable::maximise(double prior) {
  const float of_none = prior > 0 ? static_cast<float>(std::exp(digamma(prior))) : 0;
  parallel_for(std::ssize(begins_) - 1, kRowsOfBlock, [&](Index first, Index last) {
    for (auto row = static_cast<std::size_t>(first); row < static_cast<std::size_t>(last); ++row) {
      ExpectedCount sum = 0;
      std::uint64_t words = 0;
      for (std::uint64_t at = begins_[row]; at < begins_[row + 1]; ++at) {
        sum += counts_[at];
        words += cells_[at].written >= 0 ? 1 : 0;
      }
      const double total = from_expected(sum);
      const double divisor = prior > 0 ? std::exp(digamma(total + prior * static_cast<double>(words))) : total;
      const double share = divisor > 0 ? 1 / divisor : 0;
      for (std::uint64_t at = begins_[row]; at < begins_[row + 1]; ++at) {
        const double count = from_expected(counts_[at]);
        const double weight = prior <= 0 ? count : counts_[at] == 0 ? of_none : std::exp(digamma(count + prior));
        cells_[at].probability = std::max(kLeast, static_cast<float>(weight * share));
        counts_[at] = 0;
      }
    }
  });
}

float LexicalTable::probability(std::int32_t given, std::int32_t written) const {
  const Row from = row(given);
  const std::uint64_t at = from.size == 0 ? kNoCell : find(from, written, slot(written, from.size));
  return at == kNoCell ? kLeast : cells_[at].probability;
}

double LexicalTable::counted(std::int32_t given, std::int32_t written) const {
  const Row from = row(given);
  const std::uint64_t at = from.size == 0 ? kNoCell : find(from, written, slot(written, from.size));
  return at == kNoCell ? 0 : from_expected(counts_[at]);
}

}  // namespace heed
