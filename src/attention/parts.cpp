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
  const auto own = std::make_shared<GrowingRoom>(ids.size(), old.size(1), room->whole.size(2), old.size(3));
  own->put(old, 0, ids);
  x = Var(own->whole.slice(2, 0, old.size(2)));
  room = own;
}

// Rows of keys, values and prepared that nobody reads any more go once they are a quarter, as copying the others costs
// more than they do.
void drop_unread(Memory& memory) {
  const Index stored = memory.keys.size(0);
  std::vector<std::int32_t> place(static_cast<std::size_t>(stored), -1), read;
  for (const std::int32_t row : memory.shared.values())
    if (std::int32_t& known = place[static_cast<std::size_t>(row)]; known < 0)
      known = static_cast<std::int32_t>(read.size()), read.push_back(row);
  if (4 * static_cast<Index>(read.size()) > 3 * stored) return;
  const Ids ids(Shape{static_cast<Index>(read.size())}, read);
  const bool prepared = memory.keys_as_they_are(), values = memory.keys.value().data() == memory.values.value().data();
  memory.keys = gather(memory.keys, 0, ids);
  memory.values = values ? memory.keys : gather(memory.values, 0, ids);
  memory.prepared = prepared ? memory.keys : gather(memory.prepared, 0, ids);
  for (std::int32_t& row : memory.shared.values()) row = place[static_cast<std::size_t>(row)];
}

}  // namespace

GrowingRoom::GrowingRoom(Index batch, Index heads, Index capacity, Index width)
    : whole(Tensor(Shape{capacity, batch, heads, width}).transpose(0, 1).transpose(1, 2)) {}

void GrowingRoom::put(const Tensor& x, Index first, const Ids& chosen) {
  const Tensor from = x.stride(3) == 1 ? x : x.copy();
  const Index rows = chosen ? chosen.size() : from.size(0), heads = from.size(1), width = from.size(3);
  for (Index j = 0; j < from.size(2); ++j)
    for (Index i = 0; i < rows; ++i)
      for (Index h = 0; h < heads; ++h)
        std::copy_n(
            from.data() + (chosen ? chosen.data()[i] : i) * from.stride(0) + h * from.stride(1) + j * from.stride(2),
            width, whole.data() + i * whole.stride(0) + h * whole.stride(1) + (first + j) * whole.stride(2));
  filled = first + from.size(2);
}

void Memory::select(const Ids& chosen) {
  if ((rows || shared) && recording()) *this = gathered();
  const Ids ids = chosen.contiguous(), from = lengths.contiguous();
  for (const std::int32_t row : ids.values())
    require(row >= 0 && row < batch(), "[memory] there is no row {} of {}", row, batch());
  lengths = Ids(Shape{ids.size()});
  for (Index i = 0; i < ids.size(); ++i) lengths.data()[i] = from.data()[ids.data()[i]];
  if (by_reference && !recording()) {
    const Index m = size();
    Ids places(Shape{ids.size(), m});
    for (Index i = 0; i < ids.size(); ++i) {
      if (rows)
        std::copy_n(rows.data() + ids.data()[i] * m, m, places.data() + i * m);
      else
        std::fill_n(places.data() + i * m, m, ids.data()[i]);
    }
    rows = places;
    return;
  }
  if (shares && !recording()) {
    Ids from_each(Shape{ids.size()});
    for (Index i = 0; i < ids.size(); ++i) from_each.data()[i] = shared ? shared.data()[ids.data()[i]] : ids.data()[i];
    shared = from_each;
    return drop_unread(*this);
  }
  const bool same = keys_as_they_are();
  select_rows(keys, rooms[0], ids);
  select_rows(values, rooms[1], ids);
  if (same)
    prepared = keys;
  else
    select_rows(prepared, rooms[2], ids);
}

Memory Memory::gathered() const {
  if (!rows && !shared) return *this;
  Memory own = *this;
  if (shared) {
    own.keys = gather(keys, 0, shared), own.values = gather(values, 0, shared);
    own.prepared = keys_as_they_are() ? own.keys : gather(prepared, 0, shared);
    own.shared = {};
    return own;
  }
  own.rows = {}, own.rooms = {};
  own.keys = Var(gathered_cache(keys.value(), rows));
  own.values = Var(gathered_cache(values.value(), rows));
  own.prepared = keys_as_they_are() ? own.keys : Var(gathered_cache(prepared.value(), rows));
  return own;
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
