#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// The lengths of the longest common subsequences of all beginnings of two texts, which must outlive it.
class CommonSequences {
 public:
  CommonSequences(std::span<const std::string> first, std::span<const std::string> second)
      : first_(first), second_(second), width_(second.size() + 1), lengths_((first.size() + 1) * width_) {
    for (std::size_t i = 1; i <= first.size(); ++i)
      for (std::size_t j = 1; j <= second.size(); ++j)
        lengths_[i * width_ + j] =
            first[i - 1] == second[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
  }
  Index longest() const { return at(first_.size(), second_.size()); }
  // Marks the places in the first text of one longest sequence; which one of several is the choice of ROUGE-1.5.5.
  void mark(std::vector<bool>& places) const {
    for (std::size_t i = first_.size(), j = second_.size(); i > 0 && j > 0;) {
      if (first_[i - 1] == second_[j - 1]) {
        places[i - 1] = true;
        --i, --j;
      } else if (at(i, j - 1) > at(i - 1, j)) {
        --j;
      } else {
        --i;
      }
    }
  }

 private:
  std::int32_t at(std::size_t i, std::size_t j) const { return lengths_[i * width_ + j]; }
  std::span<const std::string> first_, second_;
  std::size_t width_;
  std::vector<std::int32_t> lengths_;
};

}  // namespace heed
