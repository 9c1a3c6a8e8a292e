#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// How often each n-gram is there.
using NGrams = std::unordered_map<std::string, Index>;

// The n-grams of tokens, joined by what is in no token.
template <class Token>
NGrams count_ngrams(const std::vector<Token>& tokens, std::size_t n, std::string_view between = " ") {
  NGrams counts;
  for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
    std::string key(tokens[i]);
    for (std::size_t k = 1; k < n; ++k) key.append(between).append(tokens[i + k]);
    ++counts[std::move(key)];
  }
  return counts;
}

// Of all n-grams together.
inline Index total_of(const NGrams& ngrams) {
  Index total = 0;
  for (const auto& [ngram, count] : ngrams) total += count;
  return total;
}

// How many n-grams are in both, each as often as in the one that has fewer of it.
inline Index shared_ngrams(const NGrams& first, const NGrams& second) {
  Index shared = 0;
  for (const auto& [ngram, count] : first)
    if (const auto place = second.find(ngram); place != second.end()) shared += std::min(count, place->second);
  return shared;
}

// The most of each n-gram in any one of several texts.
inline void keep_most(NGrams& most, const NGrams& other) {
  for (const auto& [ngram, count] : other) {
    Index& known = most[ngram];
    known = std::max(known, count);
  }
}

}  // namespace heed
