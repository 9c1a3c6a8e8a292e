#include "heed/metrics/rouge.h"

#include <algorithm>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/metrics/subsequence.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/porter.h"

namespace heed {
namespace {

using Words = std::vector<std::string>;

// What is found of one reference, and how much there is of both.
struct Hits {
  Index hits = 0, summary = 0, reference = 0;
  Hits& operator+=(const Hits& other) {
    hits += other.hits, summary += other.summary, reference += other.reference;
    return *this;
  }
};

double quotient(Index part, Index whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

RougeScore score_of(const Hits& hits) {
  RougeScore score{quotient(hits.hits, hits.summary), quotient(hits.hits, hits.reference), 0};
  if (const double sum = score.precision + score.recall; sum > 0) score.f = 2 * score.precision * score.recall / sum;
  return score;
}

// The first bytes of a text; line ends are not counted.
std::string beginning(std::string_view text, std::size_t bytes) {
  std::string result;
  for (const char c : text) {
    if (c != '\n' && bytes-- == 0) break;
    result += c;
  }
  return result;
}

std::vector<Words> lines_of(std::string_view text, bool stem) {
  std::vector<Words> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(rouge_words(text.substr(0, end), stem));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Hits compare_ngrams(std::string_view summary, std::string_view reference, std::size_t order, bool stem) {
  const NGrams own = count_ngrams(rouge_words(summary, stem), order),
               right = count_ngrams(rouge_words(reference, stem), order);
  return {shared_ngrams(own, right), total_of(own), total_of(right)};
}

Hits compare_sequences(std::string_view summary, std::string_view reference, bool stem) {
  const Words own = rouge_words(summary, stem), right = rouge_words(reference, stem);
  return {CommonSequences(right, own).longest(), static_cast<Index>(own.size()), static_cast<Index>(right.size())};
}

// A word is found no more often than it is in either text.
Hits compare_lines(std::string_view summary, std::string_view reference, bool stem) {
  const std::vector<Words> own = lines_of(summary, stem), right = lines_of(reference, stem);
  Hits hits;
  std::unordered_map<std::string, Index> own_left, right_left;
  for (const Words& line : own)
    for (const std::string& word : line) ++own_left[word], ++hits.summary;
  for (const Words& line : right)
    for (const std::string& word : line) ++right_left[word], ++hits.reference;
  for (const Words& line : right) {
    std::vector<bool> found(line.size());
    for (const Words& other : own) CommonSequences(line, other).mark(found);
    for (std::size_t i = 0; i < line.size(); ++i) {
      Index &left = own_left[line[i]], &also = right_left[line[i]];
      if (!found[i] || left == 0 || also == 0) continue;
      --left, --also, ++hits.hits;
    }
  }
  return hits;
}

Hits compare(const RougeKind& kind, std::string_view summary, std::string_view reference, bool stem) {
  switch (kind.unit) {
    case RougeKind::Unit::ngrams: return compare_ngrams(summary, reference, kind.order, stem);
    case RougeKind::Unit::sequence: return compare_sequences(summary, reference, stem);
    case RougeKind::Unit::lines: break;
  }
  return compare_lines(summary, reference, stem);
}

}  // namespace

std::string RougeKind::name() const {
  return unit == Unit::ngrams ? fmt::format("rouge{}", order) : unit == Unit::sequence ? "rougeL" : "rougeLsum";
}

std::string RougeKind::title() const { return "ROUGE-" + name().substr(5); }

RougeKind rouge_named(const std::string& name) {
  std::vector<RougeKind> kinds{{RougeKind::Unit::sequence}, {RougeKind::Unit::lines}};
  for (std::size_t n = 1; n <= 9; ++n) kinds.push_back({RougeKind::Unit::ngrams, n});
  std::vector<std::string> known;
  for (const RougeKind& kind : kinds) {
    if (kind.name() == name) return kind;
    known.push_back(kind.name());
  }
  fail("[rouge] there is no metric {}{}", name, did_you_mean(name, known));
}

RougeScore rouge(const RougeKind& kind, std::string_view summary, std::span<const std::string> references,
                 const RougeOptions& options) {
  require(!references.empty(), "[rouge] a summary has no reference");
  const auto limited = [&options](std::string_view text) {
    return options.bytes == 0 ? std::string(text) : beginning(text, options.bytes);
  };
  const std::string own = limited(summary);
  Hits pooled;
  RougeScore best;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const Hits hits = compare(kind, own, limited(references[i]), options.stem);
    pooled += hits;
    if (const RougeScore score = score_of(hits); i == 0 || score.f > best.f) best = score;
  }
  return options.pooled ? score_of(pooled) : best;
}

std::vector<std::string> rouge_words(std::string_view text, bool stem) {
  Words words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) words.push_back(stem && word.size() > 3 ? porter_stem(std::move(word)) : std::move(word));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += c;
    } else if (c >= 'A' && c <= 'Z') {
      word += static_cast<char>(c - 'A' + 'a');
    } else if (text.substr(at).starts_with("\u212A")) {  // the sign of the kelvin, whose lower case is k
      word += 'k';
      at += 2;
    } else {
      // The lower case of İ is an i with a mark, where the word ends.
      if (text.substr(at).starts_with("\u0130")) word += 'i';
      finish();
    }
  }
  finish();
  return words;
}

std::string rouge_signature(std::size_t references, const RougeOptions& options) {
  return fmt::format("nrefs:{}|case:lc|tok:rouge-score|stem:{}|refs:{}|bytes:{}", references,
                     options.stem ? "porter" : "no", options.pooled ? "pooled" : "best",
                     options.bytes == 0 ? "all" : fmt::to_string(options.bytes));
}

}  // namespace heed
