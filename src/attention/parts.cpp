#include "heed/attention/parts.h"

#include <algorithm>

#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

// The rows `ids` of x, in a room of their own as long as the one that x stands in, if it stands in one.
void select_rows(Var& x, std::shared_ptr<GrowingRoom>& room, const Ids& ids) {
  const Tensor& old = x.value();
  if (!room || room->whole.data() != old.data()) {
    x = gather(x, 0, ids);
    return;
  }
  const Index heads = old.size(1), part = old.size(2) * old.size(3), stride = room->whole.size(2) * old.size(3);
  Tensor whole(room->whole.shape().with(0, ids.size()));
  for (Index i = 0; i < ids.size(); ++i) {
    const Real* from = old.data() + ids.data()[i] * heads * stride;
    Real* to = whole.data() + i * heads * stride;
    for (Index h = 0; h < heads; ++h) std::copy_n(from + h * stride, part, to + h * stride);
  }
  x = Var(whole.slice(2, 0, old.size(2)));
  room = std::make_shared<GrowingRoom>(GrowingRoom{std::move(whole), x.size(2)});
}

}  // namespace

void Memory::select(const Ids& rows) {
  const Ids ids = rows.contiguous(), from = lengths.contiguous();
  for (const std::int32_t row : ids.values())
    require(row >= 0 && row < batch(), "[memory] there is no row {} of {}", row, batch());
  const bool same = keys_as_they_are();
  select_rows(keys, rooms[0], ids);
  select_rows(values, rooms[1], ids);
  if (same)
    prepared = keys;
  else
    select_rows(prepared, rooms[2], ids);
  lengths = Ids(Shape{ids.size()});
  for (Index i = 0; i < ids.size(); ++i) lengths.data()[i] = from.data()[ids.data()[i]];
}

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
