#include "heed/autograd/int8_weight.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

Index outputs_of(const Shape& shape, Int8Weight::Outputs outputs) {
  require(shape.rank() >= 2 && shape.size() > 0, "[int8] weights of shape {} are no matrix", shape);
  const Index count = shape[outputs == Int8Weight::Outputs::last ? -1 : 0];
  require(shape.size() / count <= Int8Weight::kMostInputs, "[int8] weights of shape {} have more than {} inputs", shape,
          Int8Weight::kMostInputs);
  return count;
}

// Number k of output j stands at k · input + j · output.
struct Layout {
  Index input, output;
};
Layout layout_of(const Shape& shape, Int8Weight::Outputs outputs) {
  const Index count = outputs_of(shape, outputs);
  return outputs == Int8Weight::Outputs::last ? Layout{count, 1} : Layout{1, shape.size() / count};
}

}  // namespace

Int8Weight::Int8Weight(const Tensor& weights, Outputs outputs)
    : shape_(weights.shape()),
      outputs_(outputs),
      inputs_(weights.size() / outputs_of(weights.shape(), outputs)),
      scales_(Shape{outputs_of(weights.shape(), outputs)}) {
  const Tensor from = weights.contiguous();
  const Layout layout = layout_of(shape_, outputs_);
  Bytes rounded(Shape{scales_.size(), inputs_});
  std::vector<Real> row(static_cast<std::size_t>(inputs_));
  for (Index j = 0; j < scales_.size(); ++j) {
    for (Index k = 0; k < inputs_; ++k)
      row[static_cast<std::size_t>(k)] = from.data()[k * layout.input + j * layout.output];
    scales_.data()[j] = kernels::int8_round(inputs_, row.data(), rounded.data() + j * inputs_);
    require(std::isfinite(scales_.data()[j]), "[int8] the weights have a number that is not finite");
  }
  panels_ = Bytes(Shape{kernels::Int8Panels::bytes(inputs_, scales_.size())});
  kernels::int8_pack(inputs_, scales_.size(), {rounded.data(), 1, inputs_}, panels_.data());
}

Int8Weight::Int8Weight(const Bytes& rounded, const Tensor& scales, Outputs outputs)
    : shape_(rounded.shape()),
      outputs_(outputs),
      inputs_(rounded.size() / outputs_of(rounded.shape(), outputs)),
      scales_(scales.contiguous()) {
  require(scales.shape() == Shape{outputs_of(shape_, outputs)}, "[int8] scales of shape {} do not fit weights {}",
          scales.shape(), shape_);
  for (const Real scale : scales_.values())
    require(std::isfinite(scale) && scale >= 0, "[int8] the weights have a scale of {}", scale);
  const Bytes from = rounded.contiguous();
  const Layout layout = layout_of(shape_, outputs_);
  panels_ = Bytes(Shape{kernels::Int8Panels::bytes(inputs_, scales_.size())});
  kernels::int8_pack(inputs_, scales_.size(), {from.data(), layout.input, layout.output}, panels_.data());
}

Bytes Int8Weight::rounded() const {
  Bytes result(shape_);
  const Layout layout = layout_of(shape_, outputs_);
  std::vector<std::int8_t> output(static_cast<std::size_t>(inputs_));
  for (Index j = 0; j < scales_.size(); ++j) {
    kernels::int8_unpack(panels(), j, output.data());
    for (Index k = 0; k < inputs_; ++k)
      result.data()[k * layout.input + j * layout.output] = output[static_cast<std::size_t>(k)];
  }
  return result;
}

void Int8Weight::unpack(Tensor& weights) const {
  const Layout layout = layout_of(shape_, outputs_);
  std::vector<Real> output(static_cast<std::size_t>(inputs_));
  for (Index j = 0; j < scales_.size(); ++j) {
    copy_output(j, output.data());
    for (Index k = 0; k < inputs_; ++k)
      weights.data()[k * layout.input + j * layout.output] = output[static_cast<std::size_t>(k)];
  }
}

void Int8Weight::copy_output(Index output, Real* to) const {
  std::vector<std::int8_t> numbers(static_cast<std::size_t>(inputs_));
  kernels::int8_unpack(panels(), output, numbers.data());
  for (Index k = 0; k < inputs_; ++k)
    to[k] = static_cast<Real>(numbers[static_cast<std::size_t>(k)]) * scales_.data()[output];
}

Tensor Int8Weight::product(const Tensor& x) const {
  require(x.rank() == 2 && x.size(1) == inputs_, "[int8] input {} does not fit weights {}", x.shape(), shape_);
  const Tensor rows = x.contiguous();
  Tensor y(Shape{x.size(0), scales_.size()});
  multiply(x.size(0), rows.data(), inputs_, 0, scales_.size(), false, y.data(), scales_.size());
  return y;
}

void Int8Weight::multiply(Index rows, const Real* x, Index x_stride, Index begin, Index end, bool add, Real* y,
                          Index y_stride) const {
  TensorOf<std::uint8_t> quantised(Shape{rows, kernels::Int8Panels::quads(inputs_) * kernels::kInt8Quad});
  Tensor scales(Shape{rows});
  kernels::int8_quantise(rows, inputs_, x, x_stride, quantised.data(), scales.data());
  kernels::int8_product({rows, quantised.data(), scales.data()}, panels(), begin, end, add, y, y_stride);
}

Int8Weight Int8Weight::scaled(const Tensor& factors) const {
  require(factors.shape() == scales_.shape(), "[int8] factors of shape {} do not fit weights {}", factors.shape(),
          shape_);
  Int8Weight result = *this;
  result.scales_ = scales_.copy();
  result.norms_ = std::make_shared<Norms>();
  for (Index j = 0; j < scales_.size(); ++j) result.scales_.data()[j] *= factors.data()[j];
  return result;
}

Int8Weight Int8Weight::reshaped(const Shape& shape) const {
  require(outputs_ == Outputs::last && shape.size() == shape_.size() && outputs_of(shape, outputs_) == scales_.size(),
          "[int8] weights {} cannot become {}", shape_, shape);
  Int8Weight result = *this;
  result.shape_ = shape;
  return result;
}

Int8Weight Int8Weight::chosen(const Ids& outputs) const {
  const Ids places = outputs.contiguous();
  Int8Weight result = *this;
  result.shape_ = Shape{places.size(), inputs_}, result.outputs_ = Outputs::first;
  result.scales_ = Tensor(Shape{places.size()});
  result.norms_ = std::make_shared<Norms>();
  result.panels_ = Bytes(Shape{kernels::Int8Panels::bytes(inputs_, places.size())}, std::int8_t{0});
  // An output's quads, and the sum before them, stand at one place of every line of its panel.
  const Index panel = kernels::Int8Panels::panel_bytes(inputs_);
  constexpr Index kLine = kernels::kInt8Panel * kernels::kInt8Quad;
  const auto begin = [panel](Index output) {
    return output / kernels::kInt8Panel * panel + output % kernels::kInt8Panel * kernels::kInt8Quad;
  };
  for (Index i = 0; i < places.size(); ++i) {
    const std::int32_t output = places.data()[i];
    require(output >= 0 && output < scales_.size(), "[int8] there is no output {} of {}", output, scales_.size());
    result.scales_.data()[i] = scales_.data()[output];
    const std::int8_t* const from = panels_.data() + begin(output);
    std::int8_t* const to = result.panels_.data() + begin(i);
    for (Index line = 0; line < panel; line += kLine) std::memcpy(to + line, from + line, kernels::kInt8Quad);
  }
  return result;
}

const Tensor& Int8Weight::norms() const {
  std::call_once(norms_->computed, [this] {
    norms_->values = Tensor(scales_.shape());
    std::vector<std::int8_t> output(static_cast<std::size_t>(inputs_));
    for (Index j = 0; j < scales_.size(); ++j) {
      kernels::int8_unpack(panels(), j, output.data());
      std::int64_t sum = 0;
      for (const std::int8_t number : output) sum += number * number;
      norms_->values.data()[j] = static_cast<Real>(std::sqrt(static_cast<double>(sum))) * scales_.data()[j];
    }
  });
  return norms_->values;
}

}  // namespace heed
