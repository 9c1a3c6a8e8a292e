#include "heed/attention/parts.h"

namespace heed {

void check_equal_widths(const char* score, const AttentionOptions& options) {
  require(options.query_width == options.key_width, "[{}] queries of width {} do not fit keys of width {}", score,
          options.query_width, options.key_width);
}

template <>
std::vector<PartEntry<Score>>& PartRegistry<Score>::entries() {
  static std::vector<PartEntry<Score>> list;
  return list;
}
template <>
std::vector<PartEntry<Window>>& PartRegistry<Window>::entries() {
  static std::vector<PartEntry<Window>> list;
  return list;
}
template <>
std::vector<PartEntry<Normaliser>>& PartRegistry<Normaliser>::entries() {
  static std::vector<PartEntry<Normaliser>> list;
  return list;
}

}  // namespace heed
