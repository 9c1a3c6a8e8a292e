#include <string>

#include "heed/attention/attend.h"

using heed::Index;
heed::FusedAttention mine(const heed::Var& q, const heed::Var& k, const heed::Var& v) {
  return heed::attend(q, k, v, heed::mask([](Index, Index, Index, Index) { return std::string("yes"); }));
}
