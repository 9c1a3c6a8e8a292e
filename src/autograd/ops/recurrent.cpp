#include "heed/autograd/ops/recurrent.h"

#include <memory>
#include <optional>

#include "heed/autograd/ops/recurrent_sequence.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

using namespace recurrent;

void require_shape(const char* op, const char* what, const Var& var, const Shape& shape) {
  require(!var || var.shape() == shape, "[{}] {} must be {}, not {}", op, what, shape, var.shape());
}

void require_bias(const char* op, const Var& bias, Index batch, Index gates) {
  require(!bias || bias.shape() == Shape{gates} || bias.shape() == Shape({batch, gates}),
          "[{}] the bias must be [{}] or [{}, {}], not {}", op, gates, batch, gates, bias.shape());
}

Tensor value_of(const Var& var) { return var ? var.value().contiguous() : Tensor(); }

// Columns of the gradients of what was activated.
struct Columns {
  Tensor tensor;
  Index begin, count;
  const Real* data() const { return tensor.data() + begin; }
  Index stride() const { return tensor.size(1); }
  Tensor rows_from(Index row) const { return tensor.slice(0, row, tensor.size(0)).slice(1, begin, begin + count); }
};

// The gradient of a weight's columns from `begin` on, summed over all words but the first few: rowsᵀ · d.
ProductGradient weight_gradient(const Tensor& rows, Index skip, const Columns& d, Index begin) {
  return {rows.slice(0, skip, rows.size(0)), d.rows_from(skip), begin};
}
// Of a single step it waits for the other steps'; a sequence is computed at once, which frees what it kept.
Gradient sum_of(const Tensor& weight, std::vector<ProductGradient> products, bool stepwise) {
  Gradient gradient = Gradient::of_products(weight.shape(), std::move(products));
  if (!stepwise) gradient.settle();
  return gradient;
}
// to (+)= d · (columns of the weight)ᵀ.
void through_weight(const Columns& d, const Tensor& weight, Index begin, bool add, Tensor& to) {
  kernels::gemm(to.size(0), weight.size(0), d.count, 1, {d.data(), d.stride()},
                {weight.data() + begin, weight.size(1), true}, add ? 1 : 0, to.data(), to.size(1));
}
// The numbers of a bias that all sentences share; null if there is none.
const Real* shared_bias(const Tensor& bias) { return bias && bias.rank() == 1 ? bias.data() : nullptr; }
Tensor column_sums(const Tensor& d) {
  Tensor sums(Shape{d.size(1)});
  kernels::sum(1, d.size(0), d.size(1), d.data(), sums.data());
  return sums;
}

// An op with several results records its main one; each other result is a node behind it, which runs first, leaves
// its gradient in a place shared with the op's closure, and returns an empty set of rows: nothing to add, but the op
// has to run.
using Place = std::shared_ptr<Tensor>;
Var further_result(const Var& main, Tensor value, const Place& place) {
  return record("further_result", std::move(value), {main}, [place](const Tensor& dy) {
    *place = dy;
    return grads(Gradient::of_rows(Ids(Shape{0}), Tensor(Shape{0, 1})));
  });
}

// LSTM --------------------------------------------------------------------------------------------------------------

class Lstm {
 public:
  Lstm(const char* op, const Var& x, const LstmWeights& weights, const LstmState& initial,
       const SequenceOptions* options)
      : sequence_(op, x, weights.input, weights.recurrent, 4, options),
        has_initial_(initial.hidden),
        bias_per_sentence_(weights.bias && weights.bias.rank() == 2) {
    const Shape state{sequence_.packing.batch(), sequence_.hidden};
    require_bias(op, weights.bias, sequence_.packing.batch(), sequence_.gate_width);
    require_shape(op, "the state", initial.hidden, state);
    require_shape(op, "the cell", initial.cell, state);
    bias_ = value_of(weights.bias);
    states_ = sequence_.states(value_of(initial.hidden)), cells_ = sequence_.states(value_of(initial.cell));
    gates_ = Tensor(Shape{sequence_.packing.words(), sequence_.gate_width});
  }

  const Sequence& sequence() const { return sequence_; }

  // Forward in three parts; the steps alone may run on another thread.
  void begin_forward() {
    inputs_.emplace(sequence_, bias_);
    product_.emplace(sequence_.packing, sequence_.recurrent, 0, sequence_.gate_width);
  }
  void forward_steps() {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    for (Index step = 0; step < packing.steps(); ++step) {
      inputs_->provide(sequence_, step, gates_);
      Real* gates = gates_.data() + packing.first(step) * width;
      const Index rows = packing.running(step), before = packing.before(step) * hidden,
                  after = packing.after(step) * hidden;
      if (step > 0 || has_initial_) (*product_)(rows, states_.data() + before, hidden, true, gates, width);
      kernels::lstm_forward(rows, hidden, shared_bias(bias_), cells_.data() + before, gates, states_.data() + after,
                            cells_.data() + after);
    }
  }
  void end_forward() { inputs_.reset(), product_.reset(), bias_ = {}; }

  // The results, and their gradients' places.
  void write_outputs(Tensor& y, Index column) const { sequence_.write_outputs(states_, y, column); }
  Tensor last_state() const { return sequence_.packing.last_states(states_); }
  Tensor last_cell() const { return sequence_.packing.last_states(cells_); }
  Place dlast_state = std::make_shared<Tensor>(), dlast_cell = std::make_shared<Tensor>();

  // Backward likewise. dy has this cell's columns from `column` on.
  void begin_backward(const WantedOfCell&) {
    dstate_ = sequence_.from_last(*dlast_state), dcell_ = sequence_.from_last(*dlast_cell);
    product_.emplace(sequence_.packing, sequence_.recurrent, 0, sequence_.gate_width, true);
  }
  void backward_steps(const Tensor& dy, Index column, const WantedOfCell& wanted) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    for (Index step = packing.steps() - 1; step >= 0; --step) {
      Real* gates = gates_.data() + packing.first(step) * width;
      const Index rows = packing.running(step);
      packing.add_step(dy, column, step, dstate_);
      kernels::lstm_backward(rows, hidden, dstate_.data(), cells_.data() + packing.before(step) * hidden, gates,
                             dcell_.data());
      if (step > 0 || wanted(4)) (*product_)(rows, gates, width, false, dstate_.data(), hidden);
    }
  }
  // Of W, U, the bias, the state and the cell; that of x is made, or added to what is there.
  std::vector<Gradient> end_backward(const WantedOfCell& wanted, Tensor& dx) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    product_.reset();
    const Columns d{gates_, 0, width};
    Gradient dw, du;
    if (wanted(0)) {
      Tensor packed(Shape{packing.words(), in});
      through_weight(d, input.matrix, 0, false, packed);
      sequence_.give_words(packed, dx);
    }
    if (wanted(1)) dw = sum_of(input.matrix, {weight_gradient(sequence_.packed_x(), 0, d, 0)}, stepwise);
    if (wanted(2)) {
      const Index skip = has_initial_ || packing.steps() == 0 ? 0 : packing.running(0);
      du = sum_of(recurrent.matrix, {weight_gradient(packing.states_before(states_), skip, d, 0)}, stepwise);
    }
    Tensor db;
    if (wanted(3)) db = bias_per_sentence_ ? packing.sum_by_sentence(gates_) : column_sums(gates_);
    return grads(dw, du, db, wanted(4) ? packing.unsort(dstate_) : Tensor(),
                 wanted(5) ? packing.unsort(dcell_) : Tensor());
  }

 private:
  Sequence sequence_;
  bool has_initial_, bias_per_sentence_;
  Tensor gates_;           // [words, 4·hidden]: activated; backward turns them into their gradients in place
  Tensor states_, cells_;  // [batch + words, hidden]
  Tensor bias_, dstate_, dcell_;
  std::optional<InputProducts> inputs_;
  std::optional<StepProduct> product_;
};

}  // namespace

LstmResult lstm(const Var& x, const LstmWeights& weights, const LstmState& initial, const SequenceOptions& options) {
  Lstm run("lstm", x, weights, initial, &options);
  Tensor y = run_forward(run), state = run.last_state(), cell = run.last_cell();
  const Place dstate = run.dlast_state, dcell = run.dlast_cell;
  const Var outputs =
      record("lstm", y, {x, weights.input, weights.recurrent, weights.bias, initial.hidden, initial.cell},
             [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run_backward(run, dy, wanted); });
  return {outputs, {further_result(outputs, state, dstate), further_result(outputs, cell, dcell)}};
}

LstmState lstm_step(const Var& x, const LstmState& before, const LstmWeights& weights) {
  Lstm run("lstm_step", x, weights, before, nullptr);
  Tensor h = run_forward(run), cell = run.last_cell();
  const Place dcell = run.dlast_cell;
  const Var hidden =
      record("lstm_step", h, {x, weights.input, weights.recurrent, weights.bias, before.hidden, before.cell},
             [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run_backward(run, dy, wanted); });
  return {hidden, further_result(hidden, cell, dcell)};
}

LstmBothResult lstm_both_ways(const Var& x, const Both<LstmWeights>& weights, const Both<LstmState>& initial,
                              const SequenceOptions& options) {
  const auto& [ahead, back] = weights;
  const SequenceOptions opposite{options.lengths, !options.reverse};
  Both<Lstm> run{Lstm("lstm_both_ways", x, ahead, initial.ahead, &options),
                 Lstm("lstm_both_ways", x, back, initial.back, &opposite)};
  Tensor y = run_forward(run);
  const Both<LstmState> last{{run.ahead.last_state(), run.ahead.last_cell()},
                             {run.back.last_state(), run.back.last_cell()}};
  const Both<Place> dstate{run.ahead.dlast_state, run.back.dlast_state},
      dcell{run.ahead.dlast_cell, run.back.dlast_cell};
  const Var outputs = record(
      "lstm_both_ways", y,
      {x, ahead.input, ahead.recurrent, ahead.bias, initial.ahead.hidden, initial.ahead.cell, back.input,
       back.recurrent, back.bias, initial.back.hidden, initial.back.cell},
      [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run_backward(run, dy, wanted, 5); });
  return {outputs,
          {{further_result(outputs, last.ahead.hidden.value(), dstate.ahead),
            further_result(outputs, last.ahead.cell.value(), dcell.ahead)},
           {further_result(outputs, last.back.hidden.value(), dstate.back),
            further_result(outputs, last.back.cell.value(), dcell.back)}}};
}

// GRU ---------------------------------------------------------------------------------------------------------------

namespace {

class Gru {
 public:
  Gru(const char* op, const Var& x, const GruWeights& weights, const Var& initial, const GruForm& form,
      const SequenceOptions* options)
      : sequence_(op, x, weights.input, weights.recurrent, 3, options),
        form_(form),
        has_initial_(initial),
        bias_per_sentence_(weights.bias && weights.bias.rank() == 2) {
    require_bias(op, weights.bias, sequence_.packing.batch(), sequence_.gate_width);
    require_shape(op, "the candidate's bias", weights.candidate_bias, Shape{sequence_.hidden});
    require_shape(op, "the state", initial, Shape{sequence_.packing.batch(), sequence_.hidden});
    require(!weights.candidate_bias || after(),
            "[{}] the candidate has a bias of its own only where the reset comes "
            "after the product",
            op);
    bias_ = value_of(weights.bias), candidate_bias_ = value_of(weights.candidate_bias);
    states_ = sequence_.states(value_of(initial));
    gates_ = Tensor(Shape{sequence_.packing.words(), sequence_.gate_width});
    inner_ = Tensor(Shape{sequence_.packing.words(), sequence_.hidden});
  }

  const Sequence& sequence() const { return sequence_; }

  // As an LSTM.
  void begin_forward() {
    inputs_.emplace(sequence_, bias_);
    begin_products(false);
    // A zero state needs no product.
    if (after()) products_ = Tensor(Shape{sequence_.packing.batch(), sequence_.gate_width}, Real{0});
  }
  void forward_steps() { after() ? forward_after() : forward_before(); }
  void end_forward() {
    inputs_.reset(), all_.reset(), candidate_.reset();
    bias_ = {}, candidate_bias_ = {}, products_ = {};
  }

  void write_outputs(Tensor& y, Index column) const { sequence_.write_outputs(states_, y, column); }
  Tensor last_state() const { return sequence_.packing.last_states(states_); }
  Place dlast_state = std::make_shared<Tensor>();

  void begin_backward(const WantedOfCell&) {
    dstate_ = sequence_.from_last(*dlast_state);
    begin_products(true);
    if (!after()) products_ = Tensor(Shape{sequence_.packing.batch(), sequence_.hidden});
  }
  void backward_steps(const Tensor& dy, Index column, const WantedOfCell& wanted) {
    after() ? backward_after(dy, column, wanted(5)) : backward_before(dy, column, wanted(5));
  }
  // Of W, U, both biases and the state; that of x is made, or added to what is there.
  std::vector<Gradient> end_backward(const WantedOfCell& wanted, Tensor& dx) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    all_.reset(), candidate_.reset(), products_ = {};
    // The candidate's gradient on the input's side and on the state's side differ by r if the reset comes after.
    const Columns gates{gates_, 0, 2 * hidden}, all{gates_, 0, width};
    const Columns candidate = after() ? Columns{inner_, 0, hidden} : Columns{gates_, 2 * hidden, hidden};
    Tensor db, dcandidate_bias;
    Gradient dw, du;
    if (wanted(0)) {
      Tensor packed(Shape{packing.words(), in});
      if (after()) {
        through_weight(gates, input.matrix, 0, false, packed);
        through_weight(candidate, input.matrix, 2 * hidden, true, packed);
      } else {
        through_weight(all, input.matrix, 0, false, packed);
      }
      sequence_.give_words(packed, dx);
    }
    if (wanted(1)) {
      const Tensor packed = sequence_.packed_x();
      std::vector<ProductGradient> products{weight_gradient(packed, 0, after() ? gates : all, 0)};
      if (after()) products.push_back(weight_gradient(packed, 0, candidate, 2 * hidden));
      dw = sum_of(input.matrix, std::move(products), stepwise);
    }
    if (wanted(2)) {
      const Tensor before = packing.states_before(states_);
      const Index skip = has_initial_ || packing.steps() == 0 ? 0 : packing.running(0);
      std::vector<ProductGradient> products{weight_gradient(before, skip, after() ? all : gates, 0)};
      if (!after()) products.push_back(weight_gradient(inner_, skip, candidate, 2 * hidden));
      du = sum_of(recurrent.matrix, std::move(products), stepwise);
    }
    if (wanted(3) || wanted(4)) {
      // One row, or one per sentence.
      const auto sums = [&](const Tensor& d) {
        return bias_per_sentence_ ? sequence_.packing.sum_by_sentence(d) : column_sums(d).reshape(Shape{1, d.size(1)});
      };
      db = sums(gates_);
      if (after()) {
        dcandidate_bias = column_sums(gates_).slice(0, 2 * hidden, width).copy();
        const Tensor inner = sums(inner_);
        for (Index row = 0; row < db.size(0); ++row)
          std::copy_n(inner.data() + row * hidden, hidden, db.data() + row * width + 2 * hidden);
      }
      if (!bias_per_sentence_) db = db.reshape(Shape{width});
    }
    return grads(dw, du, db, dcandidate_bias, wanted(5) ? packing.unsort(dstate_) : Tensor());
  }

 private:
  bool after() const { return form_.reset == GruReset::after_product; }

  void begin_products(bool back) {
    const Index hidden = sequence_.hidden, gates = after() ? sequence_.gate_width : 2 * hidden;
    all_.emplace(sequence_.packing, sequence_.recurrent, 0, gates, back);
    if (!after()) candidate_.emplace(sequence_.packing, sequence_.recurrent, gates, sequence_.gate_width, back);
  }

  void forward_after() {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    for (Index step = 0; step < packing.steps(); ++step) {
      inputs_->provide(sequence_, step, gates_);
      const Index rows = packing.running(step), first = packing.first(step);
      const Real* before = states_.data() + packing.before(step) * hidden;
      if (step > 0 || has_initial_) (*all_)(rows, before, hidden, false, products_.data(), width);
      kernels::gru_after_forward({rows, hidden, form_.update},
                                 {shared_bias(bias_), candidate_bias_ ? candidate_bias_.data() : nullptr},
                                 products_.data(), before, gates_.data() + first * width,
                                 inner_.data() + first * hidden, states_.data() + packing.after(step) * hidden);
    }
  }

  void backward_after(const Tensor& dy, Index column, bool initial_wanted) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    for (Index step = packing.steps() - 1; step >= 0; --step) {
      const Index rows = packing.running(step), first = packing.first(step);
      packing.add_step(dy, column, step, dstate_);
      kernels::gru_after_backward({rows, hidden, form_.update}, states_.data() + packing.before(step) * hidden,
                                  gates_.data() + first * width, inner_.data() + first * hidden, dstate_.data());
      if (step > 0 || initial_wanted) (*all_)(rows, gates_.data() + first * width, width, true, dstate_.data(), hidden);
    }
  }

  void forward_before() {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    const Real* b = shared_bias(bias_);
    for (Index step = 0; step < packing.steps(); ++step) {
      inputs_->provide(sequence_, step, gates_);
      const kernels::GruShape shape{packing.running(step), hidden, form_.update};
      const Real* before = states_.data() + packing.before(step) * hidden;
      Real* gates = gates_.data() + packing.first(step) * width;
      Real* inner = inner_.data() + packing.first(step) * hidden;
      const bool moving = step > 0 || has_initial_;
      if (moving) (*all_)(shape.rows, before, hidden, true, gates, width);
      kernels::gru_before_gates(shape, b, before, gates, inner);
      if (moving) (*candidate_)(shape.rows, inner, hidden, true, gates + 2 * hidden, width);
      kernels::gru_before_state(shape, b, before, gates, states_.data() + packing.after(step) * hidden);
    }
  }

  void backward_before(const Tensor& dy, Index column, bool initial_wanted) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    for (Index step = packing.steps() - 1; step >= 0; --step) {
      const kernels::GruShape shape{packing.running(step), hidden, form_.update};
      const Real* before = states_.data() + packing.before(step) * hidden;
      Real* gates = gates_.data() + packing.first(step) * width;
      packing.add_step(dy, column, step, dstate_);
      kernels::gru_before_backward_state(shape, before, gates, dstate_.data());
      (*candidate_)(shape.rows, gates + 2 * hidden, width, false, products_.data(), hidden);
      kernels::gru_before_backward_gates(shape, before, products_.data(), gates, dstate_.data());
      if (step > 0 || initial_wanted) (*all_)(shape.rows, gates, width, true, dstate_.data(), hidden);
    }
  }

  Sequence sequence_;
  GruForm form_;
  bool has_initial_, bias_per_sentence_;
  Tensor gates_;   // [words, 3·hidden]: activated; backward turns them into their gradients in place
  Tensor inner_;   // [words, hidden]: h' U_n + b_n (reset after; becomes a gradient too) or r ∘ h' (reset before)
  Tensor states_;  // [batch + words, hidden]
  Tensor bias_, candidate_bias_, dstate_;
  Tensor products_;  // of one step: h' U (forward, reset after) or the gradient of r ∘ h' (backward, reset before)
  std::optional<InputProducts> inputs_;
  std::optional<StepProduct> all_, candidate_;  // U, or its r and z where the candidate's part comes after them
};

}  // namespace

GruResult gru(const Var& x, const GruWeights& weights, const Var& initial, const GruForm& form,
              const SequenceOptions& options) {
  Gru run("gru", x, weights, initial, form, &options);
  Tensor y = run_forward(run), state = run.last_state();
  const Place dstate = run.dlast_state;
  const Var outputs =
      record("gru", y, {x, weights.input, weights.recurrent, weights.bias, weights.candidate_bias, initial},
             [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run_backward(run, dy, wanted); });
  return {outputs, further_result(outputs, state, dstate)};
}

Var gru_step(const Var& x, const Var& before, const GruWeights& weights, const GruForm& form) {
  Gru run("gru_step", x, weights, before, form, nullptr);
  Tensor h = run_forward(run);
  return record(
      "gru_step", h, {x, weights.input, weights.recurrent, weights.bias, weights.candidate_bias, before},
      [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run_backward(run, dy, wanted); });
}

GruBothResult gru_both_ways(const Var& x, const Both<GruWeights>& weights, const Both<Var>& initial,
                            const GruForm& form, const SequenceOptions& options) {
  const auto& [ahead, back] = weights;
  const SequenceOptions opposite{options.lengths, !options.reverse};
  Both<Gru> run{Gru("gru_both_ways", x, ahead, initial.ahead, form, &options),
                Gru("gru_both_ways", x, back, initial.back, form, &opposite)};
  Tensor y = run_forward(run);
  const Both<Tensor> last{run.ahead.last_state(), run.back.last_state()};
  const Both<Place> dstate{run.ahead.dlast_state, run.back.dlast_state};
  const Var outputs = record(
      "gru_both_ways", y,
      {x, ahead.input, ahead.recurrent, ahead.bias, ahead.candidate_bias, initial.ahead, back.input, back.recurrent,
       back.bias, back.candidate_bias, initial.back},
      [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run_backward(run, dy, wanted, 5); });
  return {outputs,
          {further_result(outputs, last.ahead, dstate.ahead), further_result(outputs, last.back, dstate.back)}};
}

}  // namespace heed
