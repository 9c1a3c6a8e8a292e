#include "heed/metrics/aer.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "heed/base/error.h"
#include "heed/metrics/tokens.h"

namespace heed {
namespace {

void sort_unique(std::vector<AlignmentLinks::Link>& links) {
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

Index common(const std::vector<AlignmentLinks::Link>& a, const std::vector<AlignmentLinks::Link>& b) {
  std::vector<AlignmentLinks::Link> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return static_cast<Index>(both.size());
}

double share(Index part, Index whole, double of_nothing) {
  return whole == 0 ? of_nothing : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

AlignmentLinks parse_alignment(std::string_view line, Index first) {
  AlignmentLinks links;
  for (const std::string_view text : split_words(line)) {
    const char* const end = text.data() + text.size();
    Index i = 0, j = 0;
    const auto left = std::from_chars(text.data(), end, i);
    const bool mark = left.ec == std::errc() && left.ptr != end && std::string_view("-?p").find(*left.ptr) < 3;
    const auto right = mark ? std::from_chars(left.ptr + 1, end, j) : left;
    require(mark && right.ec == std::errc() && right.ptr == end && i >= first && j >= first,
            "[alignment] '{}' is no link of words counted from {}; links look like 0-0, or 0?1 if they are possible",
            text, first);
    const AlignmentLinks::Link link{i - first, j - first};
    links.possible.push_back(link);
    if (*left.ptr == '-') links.sure.push_back(link);
  }
  sort_unique(links.sure);
  sort_unique(links.possible);
  return links;
}

AlignmentCounts& AlignmentCounts::operator+=(const AlignmentCounts& other) {
  proposed += other.proposed;
  sure += other.sure;
  proposed_sure += other.proposed_sure;
  proposed_possible += other.proposed_possible;
  return *this;
}

double AlignmentCounts::error_rate() const { return 1 - share(proposed_sure + proposed_possible, proposed + sure, 1); }
double AlignmentCounts::precision() const { return share(proposed_possible, proposed, 1); }
double AlignmentCounts::recall() const { return share(proposed_sure, sure, 1); }

AlignmentCounts compare_alignment(const AlignmentLinks& proposed, const AlignmentLinks& gold) {
  return {static_cast<Index>(proposed.possible.size()), static_cast<Index>(gold.sure.size()),
          common(proposed.possible, gold.sure), common(proposed.possible, gold.possible)};
}

}  // namespace heed
