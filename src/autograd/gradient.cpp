#include "heed/autograd/gradient.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"

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

// The words at which waiting products are computed rather than kept: enough for one product to run at full speed.
constexpr Index kWordsThatWait = 4096;

// Of all matrices of the batch.
Index words_of(std::span<const ProductGradient> products) {
  Index words = 0;
  for (const ProductGradient& product : products)
    words += product.left.size() / std::max<Index>(1, product.left.size(-1));
  return words;
}

// One under the other, the batch as one axis: [batch, words of all, width]. A single one is returned as it is, a view
// of columns included.
Tensor stacked(std::span<const ProductGradient> products, Tensor ProductGradient::*side, Index batch) {
  const Tensor& first = products.front().*side;
  const Index width = first.size(-1);
  if (products.size() == 1 && first.rank() == 2)
    return (first.stride(1) == 1 ? first : first.contiguous()).reshape(Shape{1, first.size(0), width});
  Tensor all(Shape{batch, words_of(products) / batch, width});
  Index at = 0;
  for (const ProductGradient& product : products) {
    const Tensor& given = product.*side;
    const Tensor part = given.rank() == 2 && given.stride(1) == 1 ? given : given.contiguous();
    const Index words = part.size(-2), stride = part.rank() == 2 ? part.stride(0) : width;
    for (Index b = 0; b < batch; ++b)
      for (Index row = 0; row < words; ++row)
        std::copy_n(part.data() + (b * words + row) * stride, width, all.data() + (b * all.size(1) + at + row) * width);
    at += words;
  }
  return all;
}

// sum [batch, rows, stride] = leftᵀ · right + beta sum of each matrix, from column `begin` on.
void add_products(const Tensor& left, const Tensor& right, Real beta, Index begin, Index stride, Real* sum) {
  const Index batch = left.size(0), rows = left.size(2);
  std::vector<Index> a, b, c;
  for (Index i = 0; i < batch; ++i) {
    a.push_back(i * left.stride(0)), b.push_back(i * right.stride(0)), c.push_back(i * rows * stride + begin);
  }
  const kernels::Matrix x{left.data(), left.stride(1), true}, y{right.data(), right.stride(1)};
  if (batch == 1)
    kernels::gemm(rows, right.size(2), left.size(1), 1, x, y, beta, sum + begin, stride);
  else
    kernels::gemm_batch(batch, rows, right.size(2), left.size(1), 1, x, y, beta, sum, stride,
                        {a.data(), b.data(), c.data()});
}

}  // namespace

Gradient Gradient::of_products(const Shape& matrix, std::vector<ProductGradient> products) {
  Gradient gradient;
  gradient.matrix_ = matrix;
  gradient.products_ = std::move(products);
  return gradient;
}

void Gradient::settle() {
  if (products_.empty()) return;
  std::vector<ProductGradient> waiting = std::exchange(products_, {});
  std::stable_sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  const Index columns = matrix_[-1], batch = matrix_.size() / std::max<Index>(1, matrix_[-2] * columns);
  const bool all_columns =
      !holds_numbers() && waiting.front().begin == waiting.back().begin && waiting.front().right.size(-1) == columns;
  if (all_columns) {
    dense_ = Tensor(matrix_);
  } else if (!dense_) {
    dense_ = to_dense(matrix_);
    rows_.clear();
  } else if (!dense_.unique() || !dense_.contiguous_layout()) {
    dense_ = dense_.copy();
  }
  for (std::size_t at = 0; at < waiting.size();) {
    std::size_t end = at + 1;
    while (end < waiting.size() && waiting[end].begin == waiting[at].begin) ++end;
    const std::span<const ProductGradient> same(waiting.data() + at, end - at);
    add_products(stacked(same, &ProductGradient::left, batch), stacked(same, &ProductGradient::right, batch),
                 all_columns ? 0 : 1, waiting[at].begin, columns, dense_.data());
    at = end;
  }
}

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
  if (!other.products_.empty()) {
    matrix_ = other.matrix_;
    for (ProductGradient& product : other.products_) products_.push_back(std::move(product));
    other.products_.clear();
    if (words_of(products_) > kWordsThatWait) settle();
  }
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
  } else if (!holds_numbers()) {
    dense_ = std::move(other.dense_);
    rows_ = std::move(other.rows_);
  } else if (sparse() && other.sparse()) {
    for (RowGradient& part : other.rows_) rows_.push_back(std::move(part));
  } else {
    if (sparse()) {  // the dense one takes the rows in
      std::swap(dense_, other.dense_);
      std::swap(rows_, other.rows_);
    }
    if (!dense_.unique() || !dense_.contiguous_layout()) dense_ = dense_.copy();
    if (other.sparse()) {
      for (const RowGradient& part : other.rows_) add_rows(dense_, part);
    } else {
      kernels::accumulate(dense_.size(), other.dense_.contiguous().data(), dense_.data());
    }
  }
}

Tensor Gradient::take_dense() {
  const bool own = dense_ && dense_.unique() && dense_.contiguous_layout();
  return own ? std::exchange(dense_, {}) : Tensor();
}

Tensor Gradient::to_dense(const Shape& shape) const {
  if (!products_.empty()) {
    Gradient settled = *this;
    settled.settle();
    return settled.dense_;
  }
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
  settle();
  const auto in_place = [factor](Tensor& tensor) {
    if (!tensor.unique() || !tensor.contiguous_layout()) tensor = tensor.copy();
    kernels::scale(tensor.size(), factor, tensor.data(), tensor.data());
  };
  if (dense_) in_place(dense_);
  for (RowGradient& part : rows_) in_place(part.rows);
}

}  // namespace heed
