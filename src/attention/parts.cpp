#include "heed/attention/parts.h"

namespace heed {

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
