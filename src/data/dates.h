#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

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

// Characters as ids: of written dates (0 for what no date has), and of ISO dates.
Index written_alphabet_size();
Index iso_alphabet_size();
Ids written_ids(const std::string& written);  // [characters]
std::string iso_text(const Ids& ids);

// Padded, with true lengths.
struct DateBatch {
  Ids written;  // [batch, longest]
  Ids lengths;  // [batch]
  Ids iso;      // [batch, 10]
};
DateBatch make_date_batch(std::span<const DatePair> pairs);

}  // namespace heed
