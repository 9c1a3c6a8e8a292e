#include "heed/autograd/gradient.h"

#include <algorithm>
#include <numeric>

#include "heed/kernels/elementwise.h"

namespace heed {
namespace {

void add_rows(Tensor& table, const RowGradient& part) {
  const Index width = part.rows.size(-1);
  for (Index i = 0; i < part.ids.size(); ++i)
    kernels::accumulate(width, part.rows.data() + i * width, table.data() + part.ids.data()[i] * width);
}

void add_slice(Tensor& dense, const SliceGradient& slice) {
  Index outer = 1, inner = 1;
  for (int i = 0; i < slice.axis; ++i) outer *= slice.whole[i];
  for (int i = slice.axis + 1; i < slice.whole.rank(); ++i) inner *= slice.whole[i];
  const Index length = slice.values.size(slice.axis) * inner, distance = slice.whole[slice.axis] * inner;
  const Tensor values = slice.values.contiguous();
  for (Index o = 0; o < outer; ++o)
    kernels::accumulate(length, values.data() + o * length, dense.data() + o * distance + slice.begin * inner);
}

}  // namespace

Gradient Gradient::of_slice(SliceGradient slice) {
  Gradient gradient;
  gradient.slice_.push_back(std::move(slice));
  return gradient;
}

Gradient Gradient::of_rows(Ids ids, Tensor rows) {
  Gradient gradient;
  gradient.rows_.push_back({std::move(ids), std::move(rows)});
  return gradient;
}

void Gradient::add(Gradient other) {
  if (other.empty()) return;
  if (other.sliced()) {
    const SliceGradient& slice = other.slice_.front();
    if (!dense_) {
      dense_ = to_dense(slice.whole);
      rows_.clear();
    } else if (!dense_.unique() || !dense_.contiguous_layout()) {
      dense_ = dense_.copy();
    }
    add_slice(dense_, slice);
  } else if (empty()) {
    *this = std::move(other);
  } else if (sparse() && other.sparse()) {
    for (RowGradient& part : other.rows_) rows_.push_back(std::move(part));
  } else {
    if (sparse()) std::swap(*this, other);  // the dense one takes the rows in
    if (!dense_.unique() || !dense_.contiguous_layout()) dense_ = dense_.copy();
    if (other.sparse()) {
      for (const RowGradient& part : other.rows_) add_rows(dense_, part);
    } else {
      kernels::accumulate(dense_.size(), other.dense_.contiguous().data(), dense_.data());
    }
  }
}

Tensor Gradient::to_dense(const Shape& shape) const {
  if (dense_) return dense_;
  Tensor result(shape, Real{0});
  for (const RowGradient& part : rows_) add_rows(result, part);
  return result;
}

RowGradient Gradient::merged() const {
  struct Source {
    std::int32_t id;
    const Real* row;
  };
  std::vector<Source> sources;
  const Index width = rows_.front().rows.size(-1);
  for (const RowGradient& part : rows_)
    for (Index i = 0; i < part.ids.size(); ++i) sources.push_back({part.ids.data()[i], part.rows.data() + i * width});
  std::stable_sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.id < b.id; });
  Index distinct = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) distinct += i == 0 || sources[i].id != sources[i - 1].id;

  RowGradient result{Ids(Shape{distinct}), Tensor(Shape{distinct, width})};
  Index at = -1;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (i == 0 || sources[i].id != sources[i - 1].id) {
      result.ids.data()[++at] = sources[i].id;
      std::copy_n(sources[i].row, width, result.rows.data() + at * width);
    } else {
      kernels::accumulate(width, sources[i].row, result.rows.data() + at * width);
    }
  }
  return result;
}

void Gradient::scale(Real factor) {
  const auto in_place = [factor](Tensor& tensor) {
    if (!tensor.unique() || !tensor.contiguous_layout()) tensor = tensor.copy();
    kernels::scale(tensor.size(), factor, tensor.data(), tensor.data());
  };
  if (dense_) in_place(dense_);
  for (RowGradient& part : rows_) in_place(part.rows);
}

}  // namespace heed
