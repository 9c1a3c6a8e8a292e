#pragma once

#include <string>
#include <vector>

#include "heed/base/random.h"

namespace heed {

// A generated corpus that needs no files: dates as people write them, and the same dates as ISO 8601. Reading one means
// finding day, month and year wherever they stand, which is what attention is for.
struct DatePair {
  std::string written;  // "Thursday, 3 May 1984", "the 3rd of May, 1984", "3/5/84 (May)" …
  std::string iso;      // "1984-05-03", always 10 characters
};
DatePair generate_date(RandomSequence& random);
// Distinct by written form, so that a test part is unseen.
std::vector<DatePair> generate_dates(std::size_t count, std::uint64_t seed);

}  // namespace heed
