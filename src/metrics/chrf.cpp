#include "heed/metrics/chrf.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/tokens.h"

namespace heed {
namespace {

bool ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Words with one punctuation mark cut off, the last or else the first.
std::vector<std::string_view> words_and_marks(std::string_view text) {
  std::vector<std::string_view> result;
  for (const std::string_view word : split_words(text)) {
    if (count_characters(word) == 1) {
      result.push_back(word);
    } else if (ascii_punctuation(word.back())) {
      result.push_back(word.substr(0, word.size() - 1));
      result.push_back(word.substr(word.size() - 1));
    } else if (ascii_punctuation(word.front())) {
      result.push_back(word.substr(0, 1));
      result.push_back(word.substr(1));
    } else {
      result.push_back(word);
    }
  }
  return result;
}

// One map per order.
std::vector<NGrams> all_ngrams(std::string_view sentence, const ChrfOptions& options) {
  const std::string text = options.lowercase ? lowercased(sentence) : std::string(sentence);
  std::vector<std::string_view> characters;
  for (const Character& character : Characters(text))
    if (options.white_space || !is_white_space(character.code)) characters.push_back(character.bytes);
  std::vector<NGrams> orders;
  for (std::size_t n = 1; n <= options.characters; ++n) orders.push_back(count_ngrams(characters, n, ""));
  const std::vector<std::string_view> words = words_and_marks(text);
  for (std::size_t n = 1; n <= options.words; ++n) orders.push_back(count_ngrams(words, n));
  return orders;
}

ChrfCounts compare(const std::vector<NGrams>& hypothesis, const std::vector<NGrams>& reference) {
  ChrfCounts counts;
  for (std::size_t n = 0; n < hypothesis.size(); ++n) {
    ChrfCounts::Order& order = counts.orders.emplace_back();
    if (reference[n].empty()) continue;  // what the reference is too short for counts for nobody
    order = {total_of(hypothesis[n]), total_of(reference[n]), shared_ngrams(hypothesis[n], reference[n])};
  }
  return counts;
}

}  // namespace

ChrfCounts& ChrfCounts::operator+=(const ChrfCounts& other) {
  orders.resize(std::max(orders.size(), other.orders.size()));
  for (std::size_t n = 0; n < other.orders.size(); ++n) {
    orders[n].hypothesis += other.orders[n].hypothesis;
    orders[n].reference += other.orders[n].reference;
    orders[n].matches += other.orders[n].matches;
  }
  return *this;
}

ChrfCounts chrf_counts(std::string_view hypothesis, std::span<const std::string> references,
                       const ChrfOptions& options) {
  require(!references.empty(), "[chrf] a sentence has no reference");
  const std::vector<NGrams> own = all_ngrams(hypothesis, options);
  ChrfCounts best;
  double most = -1;
  for (const std::string& reference : references) {
    ChrfCounts counts = compare(own, all_ngrams(reference, options));
    if (const double score = chrf(counts, options); score > most) {
      most = score;
      best = std::move(counts);
    }
  }
  return best;
}

double chrf(const ChrfCounts& counts, const ChrfOptions& options) {
  double precision = 0, recall = 0, orders = 0;
  for (const ChrfCounts::Order& order : counts.orders) {
    if (order.hypothesis == 0 || order.reference == 0) continue;
    precision += static_cast<double>(order.matches) / static_cast<double>(order.hypothesis);
    recall += static_cast<double>(order.matches) / static_cast<double>(order.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders, recall /= orders;
  const double factor = options.beta * options.beta;
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options) {
  require(hypotheses.size() == references.size(), "[chrf] {} hypotheses for {} references", hypotheses.size(),
          references.size());
  ChrfCounts counts;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) counts += chrf_counts(hypotheses[i], references[i], options);
  return chrf(counts, options);
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta, std::string(options.words, '+'));
}

std::string chrf_signature(std::size_t references, const ChrfOptions& options) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:{}", references, options.lowercase ? "lc" : "mixed",
                     options.characters, options.words, options.white_space ? "yes" : "no");
}

}  // namespace heed
