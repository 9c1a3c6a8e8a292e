// A whole training step of a Transformer-like stack composed of plain ops: 3 + 3 post-norm layers (Vaswani et al.
// 2017) of width 256, 4 heads, 1024 inner units, 8000 words, 64 sentences of 64 words on each side, label smoothing
// 0.1, Adam. No dropout, so that the numbers can be compared. bench/peers/torch_engine.py has the same model.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "engine/case.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/embedding.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/norm.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "heed/nn/parameters.h"
#include "heed/train/optimiser.h"

namespace heed::bench {
namespace {

constexpr Index kSentences = 64, kLength = 64, kWidth = 256, kHeads = 4, kInner = 1024, kWords = 8000, kLayers = 3;

class Transformer {
 public:
  Transformer() {
    for (const char* side : {"source", "target"})
      add(fmt::format("{}.embedding", side), {kWords, kWidth}, std::sqrt(3));
    for (Index layer = 0; layer < kLayers; ++layer) {
      add_attention(fmt::format("encoder{}.self", layer));
      add_inner(fmt::format("encoder{}.inner", layer));
    }
    for (Index layer = 0; layer < kLayers; ++layer) {
      add_attention(fmt::format("decoder{}.self", layer));
      add_attention(fmt::format("decoder{}.cross", layer));
      add_inner(fmt::format("decoder{}.inner", layer));
    }
    add_linear("output", kWidth, kWords);
    positions_ = filled({kLength, kWidth}, 1000);
    causal_ = Mask({kLength, kLength});
    for (Index i = 0; i < kLength; ++i)
      for (Index j = 0; j < kLength; ++j) causal_.data()[i * kLength + j] = j <= i;
  }

  Var loss(const Ids& source, const Ids& target, const Ids& expected) const {
    Var x = embedding(at("source.embedding"), source) + positions_;  // [sentences, length, width]
    for (Index layer = 0; layer < kLayers; ++layer) {
      x = attention(fmt::format("encoder{}.self", layer), x, x, {});
      x = inner(fmt::format("encoder{}.inner", layer), x);
    }
    Var y = embedding(at("target.embedding"), target) + positions_;
    for (Index layer = 0; layer < kLayers; ++layer) {
      y = attention(fmt::format("decoder{}.self", layer), y, y, causal_);
      y = attention(fmt::format("decoder{}.cross", layer), y, x, {});
      y = inner(fmt::format("decoder{}.inner", layer), y);
    }
    return cross_entropy(apply_linear("output", y), expected, {.label_smoothing = 0.1});
  }

  Parameters& parameters() { return parameters_; }

 private:
  void add(const std::string& name, const Shape& shape, double scale) {
    parameters_.add(name, shape, filling(++seed_, static_cast<Real>(scale)));
  }
  void add_linear(const std::string& name, Index inputs, Index outputs) {
    add(name + ".weight", {inputs, outputs}, std::sqrt(3.0 / static_cast<double>(inputs)));
    add(name + ".bias", {outputs}, 0.1);
  }
  void add_norm(const std::string& name) {
    add(name + ".gain", {kWidth}, 1);
    add(name + ".bias", {kWidth}, 0.1);
  }
  void add_attention(const std::string& name) {
    add_linear(name + ".query", kWidth, kWidth);
    add_linear(name + ".memory", kWidth, 2 * kWidth);
    add_linear(name + ".joined", kWidth, kWidth);
    add_norm(name + ".norm");
  }
  void add_inner(const std::string& name) {
    add_linear(name + ".wide", kWidth, kInner);
    add_linear(name + ".narrow", kInner, kWidth);
    add_norm(name + ".norm");
  }

  const Var& at(const std::string& name) const { return parameters_.at(name); }
  Var apply_linear(const std::string& name, const Var& x, Activation activation = Activation::identity) const {
    return linear(x, at(name + ".weight"), at(name + ".bias"), activation);
  }
  Var add_and_norm(const std::string& name, const Var& x, const Var& residual) const {
    return residual_layer_norm(x, residual, at(name + ".norm.gain"), at(name + ".norm.bias"));
  }
  // [sentences, length, width] to [sentences, heads, length, width / heads]
  static Var heads(const Var& x) { return transpose(reshape(x, {kSentences, kLength, kHeads, kWidth / kHeads}), 1, 2); }

  // softmax(Q Kᵀ / √d) V
  Var attention(const std::string& name, const Var& x, const Var& memory, const Mask& mask) const {
    const Var query = heads(apply_linear(name + ".query", x));
    const Var both = apply_linear(name + ".memory", memory);
    const Var keys = heads(slice(both, -1, 0, kWidth)), values = heads(slice(both, -1, kWidth, 2 * kWidth));
    const Real inverse_root = 1 / std::sqrt(static_cast<Real>(kWidth / kHeads));
    const Var weights = softmax(inverse_root * matmul(query, keys, {.b = true}), mask);
    const Var read = reshape(transpose(matmul(weights, values), 1, 2), {kSentences, kLength, kWidth});
    return add_and_norm(name, apply_linear(name + ".joined", read), x);
  }

  Var inner(const std::string& name, const Var& x) const {
    return add_and_norm(name, apply_linear(name + ".narrow", apply_linear(name + ".wide", x, Activation::relu)), x);
  }

  Parameters parameters_;
  std::uint32_t seed_ = 0;
  Tensor positions_;
  Mask causal_;
};

const Case transformer("transformer", [] {
  const auto model = std::make_shared<Transformer>();
  const auto adam =
      std::make_shared<Optimiser>(OptimiserOptions{.algorithm = Adam{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9}});
  const Shape shape{kSentences, kLength};
  const Ids source = filled_ids(shape, 2001, kWords), target = filled_ids(shape, 2002, kWords),
            expected = filled_ids(shape, 2003, kWords);
  return [=, first = true](Results* results) mutable {
    Gradients gradients;
    Tensor loss;
    {
      const Var value = model->loss(source, target, expected);
      loss = value.value();
      backward(value, gradients);
    }
    if (results) *results = {{"loss", loss}};
    if (results && first)  // later gradients differ by how Adam answers to rounding
      for (const Parameters::Entry& each : model->parameters().entries())
        results->emplace_back("d " + each.name, gradients.of(each.var).copy());
    first = false;
    adam->step(model->parameters(), gradients, 1e-4f);
  };
});

}  // namespace
}  // namespace heed::bench
