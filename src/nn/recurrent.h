#pragma once

#include <functional>
#include <vector>

#include "heed/autograd/ops/recurrent.h"
#include "heed/nn/parameters.h"

// Recurrent layers over [batch, time, in]. Every kind of layer has the same face, so that directions and stacks are
// made of any of them:
//   State                                            a value; an empty one is zeros
//   Layer(scope, in, hidden, options)                makes the parameters
//   layer(x, initial, options) → {outputs, last}     a whole padded sequence, see SequenceOptions
//   layer.output_size()                              the last axis of the outputs
// A layer of one direction also has step(x, state) → state for decoders, output(state), what a step puts out, and
// state_of(output), a state that puts this out and remembers nothing else; and both_ways, which runs two of them over
// the same words in opposite directions. A step may be given the gates' bias [batch, gates]: what the part of the input
// known beforehand has become, with the layer's own bias in it. Initialisation, unless told: recurrent weights
// orthogonal, one block a gate; input weights Glorot; biases zero.

namespace heed {

struct LstmOptions {
  bool bias = true;
  double forget_bias = 1;  // the forget gates' initial bias: at first, remember (Gers et al. 2000)
  Initialiser input = init::glorot(), recurrent = init::orthogonal();
};

class LstmLayer {
 public:
  using Options = LstmOptions;
  using State = LstmState;
  using Result = LstmResult;

  LstmLayer() = default;
  LstmLayer(const Scope& scope, Index in, Index hidden, const LstmOptions& options = {});
  LstmResult operator()(const Var& x, const LstmState& initial = {}, const SequenceOptions& options = {}) const {
    return lstm(x, weights_, initial, options);
  }
  LstmState step(const Var& x, const LstmState& before, const Var& bias = {}) const {
    return lstm_step(x, before, {weights_.input, weights_.recurrent, bias ? bias : weights_.bias});
  }
  static const Var& output(const LstmState& state) { return state.hidden; }
  static LstmState state_of(const Var& output) { return {output, {}}; }
  static LstmBothResult both_ways(const Var& x, const LstmLayer& ahead, const LstmLayer& back,
                                  const Both<LstmState>& initial, const SequenceOptions& options) {
    return lstm_both_ways(x, {ahead.weights_, back.weights_}, initial, options);
  }
  Index output_size() const { return weights_.recurrent.size(0); }
  const LstmWeights& weights() const { return weights_; }

 private:
  LstmWeights weights_;
};

struct GruOptions {
  bool bias = true;
  GruForm form;
  Initialiser input = init::glorot(), recurrent = init::orthogonal();
};

class GruLayer {
 public:
  using Options = GruOptions;
  using State = Var;
  using Result = GruResult;

  GruLayer() = default;
  GruLayer(const Scope& scope, Index in, Index hidden, const GruOptions& options = {});
  GruResult operator()(const Var& x, const Var& initial = {}, const SequenceOptions& options = {}) const {
    return gru(x, weights_, initial, form_, options);
  }
  Var step(const Var& x, const Var& before, const Var& bias = {}) const {
    return gru_step(x, before,
                    {weights_.input, weights_.recurrent, bias ? bias : weights_.bias, weights_.candidate_bias}, form_);
  }
  static const Var& output(const Var& state) { return state; }
  static Var state_of(const Var& output) { return output; }
  static GruBothResult both_ways(const Var& x, const GruLayer& ahead, const GruLayer& back, const Both<Var>& initial,
                                 const SequenceOptions& options) {
    return gru_both_ways(x, {ahead.weights_, back.weights_}, initial, ahead.form_, options);
  }
  Index output_size() const { return weights_.recurrent.size(0); }
  const GruWeights& weights() const { return weights_; }
  const GruForm& form() const { return form_; }

 private:
  GruForm form_;
  GruWeights weights_;
};

// [a; b] on the last axis.
Var joined(const Var& a, const Var& b);

// Two layers read the same words in opposite directions (Schuster & Paliwal 1997); outputs are joined:
// [batch, time, 2·hidden].
template <class Layer>
class Bidirectional {
 public:
  using Options = typename Layer::Options;
  struct State {
    typename Layer::State forward, backward;
  };
  struct Result {
    Var outputs;
    State last;
  };

  Bidirectional() = default;
  Bidirectional(const Scope& scope, Index in, Index hidden, const Options& options = {})
      : forward_(scope / "forward", in, hidden, options), backward_(scope / "backward", in, hidden, options) {}
  Result operator()(const Var& x, const State& initial = {}, const SequenceOptions& options = {}) const {
    auto [outputs, last] = Layer::both_ways(x, forward_, backward_, {initial.forward, initial.backward}, options);
    return {std::move(outputs), {std::move(last.ahead), std::move(last.back)}};
  }
  Index output_size() const { return forward_.output_size() + backward_.output_size(); }
  const Layer& forward() const { return forward_; }
  const Layer& backward() const { return backward_; }

 private:
  Layer forward_, backward_;
};

// Layers over one another, each reading the outputs of the one below.
template <class Layer>
class Stacked {
 public:
  using Options = typename Layer::Options;
  using State = std::vector<typename Layer::State>;  // from the bottom up; empty: zeros
  // What happens to the outputs on their way up, e.g. dropout.
  using Between = std::function<Var(const Var&)>;
  struct Result {
    Var outputs;  // of the top layer
    State last;
  };

  Stacked() = default;
  Stacked(const Scope& scope, Index depth, Index in, Index hidden, const Options& options = {}) {
    require(depth >= 1, "[stacked] needs at least one layer, not {}", depth);
    for (Index i = 0; i < depth; ++i) {
      const Index width = i == 0 ? in : layers_.back().output_size();
      layers_.emplace_back(scope / ("layer" + std::to_string(i)), width, hidden, options);
    }
  }
  Result operator()(const Var& x, const State& initial = {}, const SequenceOptions& options = {},
                    const Between& between = {}) const {
    check(initial);
    Result result{x, {}};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Var below = i > 0 && between ? between(result.outputs) : result.outputs;
      auto [outputs, last] = layers_[i](below, initial.empty() ? typename Layer::State{} : initial[i], options);
      result.outputs = std::move(outputs);
      result.last.push_back(std::move(last));
    }
    return result;
  }
  // `bias` is the lowest layer's.
  State step(const Var& x, const State& before, const Between& between = {}, const Var& bias = {}) const {
    check(before);
    State after;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Var below = i == 0 ? x : between ? between(Layer::output(after.back())) : Layer::output(after.back());
      after.push_back(
          layers_[i].step(below, before.empty() ? typename Layer::State{} : before[i], i == 0 ? bias : Var()));
    }
    return after;
  }
  static const Var& output(const State& state) { return Layer::output(state.back()); }
  Index output_size() const { return layers_.back().output_size(); }
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  void check(const State& state) const {
    require(state.empty() || state.size() == layers_.size(), "[stacked] {} states for {} layers", state.size(),
            layers_.size());
  }
  std::vector<Layer> layers_;
};

}  // namespace heed
