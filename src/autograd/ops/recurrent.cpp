#include "heed/autograd/ops/recurrent.h"

#include <memory>

#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/packing.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/reduce.h"

namespace heed {
namespace {

// The weights of a product [in, out], as numbers or in eight bits.
struct Weight {
  Tensor matrix;
  const Int8Weight* int8;

  explicit Weight(const Var& var) : int8(int8_factor(var)) {
    if (!int8) matrix = var.value().contiguous();
  }
  // y = x W, or y = y + x W, of the outputs [begin, end).
  void multiply(Index rows, const Real* x, Index in, Index begin, Index end, bool add, Real* y, Index width) const {
    if (int8) return int8->multiply(rows, x, in, begin, end, add, y, width);
    kernels::gemm(rows, end - begin, in, 1, {x, in}, {matrix.data() + begin, width}, add ? 1 : 0, y, width);
  }
};

// What both cells share: sizes, the packed batch, and the products that span all steps.
struct Sequence {
  Packing packing;
  Index in, hidden, gate_width;
  bool stepwise;            // a single step: x is [batch, in]
  Tensor x;                 // [batch, time, in]
  Weight input, recurrent;  // W, U

  Sequence(const char* op, const Var& given, const Var& w, const Var& u, Index gates, const SequenceOptions* options)
      : packing(check(op, given, w, u, gates, options)),
        in(given.size(-1)),
        hidden(u.size(0)),
        gate_width(gates * hidden),
        stepwise(options == nullptr),
        x(given.value().contiguous()),
        input(w),
        recurrent(u) {}

  Shape output_shape() const {
    return stepwise ? Shape{packing.batch(), hidden} : Shape{packing.batch(), x.size(1), hidden};
  }
  Tensor packed_x() const {
    if (stepwise) return x;
    Tensor packed(Shape{packing.words(), in});
    packing.pack(x, packed);
    return packed;
  }
  Tensor unpacked(const Tensor& packed, const Shape& shape) const {
    Tensor result(shape);
    packing.unpack(packed, result);
    return result;
  }
  // x W, of all steps in one product, and the bias if there is one per sentence: [words, gates].
  Tensor input_products(const Tensor& bias) const {
    Tensor gates(Shape{packing.words(), gate_width});
    const Tensor packed = packed_x();
    input.multiply(packing.words(), packed.data(), in, 0, gate_width, false, gates.data(), gate_width);
    if (bias && bias.rank() == 2) packing.add_to_words(bias, gates);
    return gates;
  }
  // A tensor for the states of all steps, with the initial ones filled in.
  Tensor states(const Tensor& initial) const {
    Tensor all(Shape{packing.batch() + packing.words(), hidden});
    packing.sort(initial, all);
    return all;
  }
  Tensor outputs(const Tensor& states) const {
    return unpacked(states.slice(0, packing.batch(), states.size(0)), output_shape());
  }
  // The gradient that sentences bring from after their last step, in packing order.
  Tensor from_last(const Tensor& gradient) const {
    Tensor sorted(Shape{packing.batch(), hidden});
    packing.sort(gradient, sorted);
    return sorted;
  }

 private:
  static Packing check(const char* op, const Var& x, const Var& w, const Var& u, Index gates,
                       const SequenceOptions* options) {
    require(x.rank() == (options ? 3 : 2), "[{}] x must be {}, not {}", op,
            options ? "[batch, time, in]" : "[batch, in]", x.shape());
    require(x.size() > 0, "[{}] the batch is empty: x has shape {}", op, x.shape());
    require(u.rank() == 2 && u.size(0) > 0 && u.size(1) == gates * u.size(0),
            "[{}] recurrent weights must be [hidden, {}·hidden], not {}", op, gates, u.shape());
    require(w.shape() == Shape({x.size(-1), u.size(1)}), "[{}] input weights must be [{}, {}], not {}", op, x.size(-1),
            u.size(1), w.shape());
    const Index batch = x.size(0), time = options ? x.size(1) : 1;
    if (!options) return Packing(batch, time, {}, false);
    if (const Ids& lengths = options->lengths) {
      require(lengths.shape() == Shape{batch}, "[{}] lengths must be [{}], not {}", op, batch, lengths.shape());
      for (Index i = 0; i < batch; ++i)
        require(lengths.at({i}) >= 0 && lengths.at({i}) <= time, "[{}] length {} of sentence {} is outside 0..{}", op,
                lengths.at({i}), i, time);
    }
    return Packing(batch, time, options->lengths, options->reverse);
  }
};

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

// U seen from behind, for d · Uᵀ at each step. A product with an untransposed matrix is up to 2.5 times as fast at a
// step's few rows (measured with oneDNN), so a transposed copy pays from the third step on.
class TransposedWeight {
 public:
  TransposedWeight(const Tensor& u, Index steps) : u_(u), copied_(steps > 2) {
    if (!copied_) return;
    u_ = Tensor(Shape{u.size(1), u.size(0)});
    kernels::transpose(u.size(0), u.size(1), u.data(), u_.data());
  }
  // Uᵀ from its row `begin` on, that is from U's column.
  kernels::Matrix from(Index begin) const {
    return {u_.data() + (copied_ ? begin * u_.size(1) : begin), u_.size(1), !copied_};
  }

 private:
  Tensor u_;
  bool copied_;
};

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
    forward(value_of(weights.bias), value_of(initial.hidden), value_of(initial.cell));
  }

  // The results, and their gradients' places.
  Tensor outputs() const { return sequence_.outputs(states_); }
  Tensor last_state() const { return sequence_.packing.last_states(states_); }
  Tensor last_cell() const { return sequence_.packing.last_states(cells_); }
  Place dlast_state = std::make_shared<Tensor>(), dlast_cell = std::make_shared<Tensor>();

  std::vector<Gradient> backward(const Tensor& dy, Wanted wanted) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    Tensor dstate = sequence_.from_last(*dlast_state), dcell = sequence_.from_last(*dlast_cell);
    const TransposedWeight back(recurrent.matrix, packing.steps());
    for (Index step = packing.steps() - 1; step >= 0; --step) {
      Real* gates = gates_.data() + packing.first(step) * width;
      const Index rows = packing.running(step);
      packing.add_step(dy, step, dstate);
      kernels::lstm_backward(rows, hidden, dstate.data(), cells_.data() + packing.before(step) * hidden, gates,
                             dcell.data());
      if (step > 0 || wanted(4))
        kernels::gemm(rows, hidden, width, 1, {gates, width}, back.from(0), 0, dstate.data(), hidden);
    }
    const Columns d{gates_, 0, width};
    Tensor dx;
    Gradient dw, du;
    if (wanted(0)) {
      Tensor packed(Shape{packing.words(), in});
      through_weight(d, input.matrix, 0, false, packed);
      dx = sequence_.unpacked(packed, x.shape());
    }
    if (wanted(1)) dw = sum_of(input.matrix, {weight_gradient(sequence_.packed_x(), 0, d, 0)}, stepwise);
    if (wanted(2)) {
      const Index skip = has_initial_ || packing.steps() == 0 ? 0 : packing.running(0);
      du = sum_of(recurrent.matrix, {weight_gradient(packing.states_before(states_), skip, d, 0)}, stepwise);
    }
    Tensor db;
    if (wanted(3)) db = bias_per_sentence_ ? packing.sum_by_sentence(gates_) : column_sums(gates_);
    return grads(dx, dw, du, db, wanted(4) ? packing.unsort(dstate) : Tensor(),
                 wanted(5) ? packing.unsort(dcell) : Tensor());
  }

 private:
  void forward(const Tensor& bias, const Tensor& state, const Tensor& cell) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    states_ = sequence_.states(state), cells_ = sequence_.states(cell);
    gates_ = sequence_.input_products(bias);
    for (Index step = 0; step < packing.steps(); ++step) {
      Real* gates = gates_.data() + packing.first(step) * width;
      const Index rows = packing.running(step), before = packing.before(step) * hidden,
                  after = packing.after(step) * hidden;
      if (step > 0 || has_initial_)
        recurrent.multiply(rows, states_.data() + before, hidden, 0, width, true, gates, width);
      kernels::lstm_forward(rows, hidden, shared_bias(bias), cells_.data() + before, gates, states_.data() + after,
                            cells_.data() + after);
    }
  }

  Sequence sequence_;
  bool has_initial_, bias_per_sentence_;
  Tensor gates_;           // [words, 4·hidden]: activated; backward turns them into their gradients in place
  Tensor states_, cells_;  // [batch + words, hidden]
};

}  // namespace

LstmResult lstm(const Var& x, const LstmWeights& weights, const LstmState& initial, const SequenceOptions& options) {
  Lstm run("lstm", x, weights, initial, &options);
  Tensor y = run.outputs(), state = run.last_state(), cell = run.last_cell();
  const Place dstate = run.dlast_state, dcell = run.dlast_cell;
  const Var outputs =
      record("lstm", y, {x, weights.input, weights.recurrent, weights.bias, initial.hidden, initial.cell},
             [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run.backward(dy, wanted); });
  return {outputs, {further_result(outputs, state, dstate), further_result(outputs, cell, dcell)}};
}

LstmState lstm_step(const Var& x, const LstmState& before, const LstmWeights& weights) {
  Lstm run("lstm_step", x, weights, before, nullptr);
  Tensor h = run.outputs(), cell = run.last_cell();
  const Place dcell = run.dlast_cell;
  const Var hidden =
      record("lstm_step", h, {x, weights.input, weights.recurrent, weights.bias, before.hidden, before.cell},
             [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run.backward(dy, wanted); });
  return {hidden, further_result(hidden, cell, dcell)};
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
    states_ = sequence_.states(value_of(initial));
    const Tensor bias = value_of(weights.bias);
    gates_ = sequence_.input_products(bias);
    inner_ = Tensor(Shape{sequence_.packing.words(), sequence_.hidden});
    if (after()) {
      forward_after(bias, value_of(weights.candidate_bias));
    } else {
      forward_before(bias);
    }
  }

  Tensor outputs() const { return sequence_.outputs(states_); }
  Tensor last_state() const { return sequence_.packing.last_states(states_); }
  Place dlast_state = std::make_shared<Tensor>();

  std::vector<Gradient> backward(const Tensor& dy, Wanted wanted) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    Tensor dstate = sequence_.from_last(*dlast_state);
    if (after()) {
      backward_after(dy, wanted(5), dstate);
    } else {
      backward_before(dy, wanted(5), dstate);
    }
    // The candidate's gradient on the input's side and on the state's side differ by r if the reset comes after.
    const Columns gates{gates_, 0, 2 * hidden}, all{gates_, 0, width};
    const Columns candidate = after() ? Columns{inner_, 0, hidden} : Columns{gates_, 2 * hidden, hidden};
    Tensor dx, db, dcandidate_bias;
    Gradient dw, du;
    if (wanted(0)) {
      Tensor packed(Shape{packing.words(), in});
      if (after()) {
        through_weight(gates, input.matrix, 0, false, packed);
        through_weight(candidate, input.matrix, 2 * hidden, true, packed);
      } else {
        through_weight(all, input.matrix, 0, false, packed);
      }
      dx = sequence_.unpacked(packed, x.shape());
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
    return grads(dx, dw, du, db, dcandidate_bias, wanted(5) ? packing.unsort(dstate) : Tensor());
  }

 private:
  bool after() const { return form_.reset == GruReset::after_product; }

  void forward_after(const Tensor& bias, const Tensor& candidate_bias) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    // A zero state needs no product.
    Tensor products(Shape{packing.batch(), width}, Real{0});
    for (Index step = 0; step < packing.steps(); ++step) {
      const Index rows = packing.running(step), first = packing.first(step);
      const Real* before = states_.data() + packing.before(step) * hidden;
      if (step > 0 || has_initial_) recurrent.multiply(rows, before, hidden, 0, width, false, products.data(), width);
      kernels::gru_after_forward({rows, hidden, form_.update},
                                 {shared_bias(bias), candidate_bias ? candidate_bias.data() : nullptr}, products.data(),
                                 before, gates_.data() + first * width, inner_.data() + first * hidden,
                                 states_.data() + packing.after(step) * hidden);
    }
  }

  void backward_after(const Tensor& dy, bool initial_wanted, Tensor& dstate) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    const TransposedWeight back(recurrent.matrix, packing.steps());
    for (Index step = packing.steps() - 1; step >= 0; --step) {
      const Index rows = packing.running(step), first = packing.first(step);
      packing.add_step(dy, step, dstate);
      kernels::gru_after_backward({rows, hidden, form_.update}, states_.data() + packing.before(step) * hidden,
                                  gates_.data() + first * width, inner_.data() + first * hidden, dstate.data());
      if (step > 0 || initial_wanted)
        kernels::gemm(rows, hidden, width, 1, {gates_.data() + first * width, width}, back.from(0), 1, dstate.data(),
                      hidden);
    }
  }

  void forward_before(const Tensor& bias) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    const Real* b = shared_bias(bias);
    for (Index step = 0; step < packing.steps(); ++step) {
      const kernels::GruShape shape{packing.running(step), hidden, form_.update};
      const Real* before = states_.data() + packing.before(step) * hidden;
      Real* gates = gates_.data() + packing.first(step) * width;
      Real* inner = inner_.data() + packing.first(step) * hidden;
      const bool moving = step > 0 || has_initial_;
      if (moving) recurrent.multiply(shape.rows, before, hidden, 0, 2 * hidden, true, gates, width);
      kernels::gru_before_gates(shape, b, before, gates, inner);
      if (moving) recurrent.multiply(shape.rows, inner, hidden, 2 * hidden, width, true, gates + 2 * hidden, width);
      kernels::gru_before_state(shape, b, before, gates, states_.data() + packing.after(step) * hidden);
    }
  }

  void backward_before(const Tensor& dy, bool initial_wanted, Tensor& dstate) {
    const auto& [packing, in, hidden, width, stepwise, x, input, recurrent] = sequence_;
    const TransposedWeight back(recurrent.matrix, packing.steps());
    Tensor dinner(Shape{packing.batch(), hidden});
    for (Index step = packing.steps() - 1; step >= 0; --step) {
      const kernels::GruShape shape{packing.running(step), hidden, form_.update};
      const Real* before = states_.data() + packing.before(step) * hidden;
      Real* gates = gates_.data() + packing.first(step) * width;
      packing.add_step(dy, step, dstate);
      kernels::gru_before_backward_state(shape, before, gates, dstate.data());
      kernels::gemm(shape.rows, hidden, hidden, 1, {gates + 2 * hidden, width}, back.from(2 * hidden), 0, dinner.data(),
                    hidden);
      kernels::gru_before_backward_gates(shape, before, dinner.data(), gates, dstate.data());
      if (step > 0 || initial_wanted)
        kernels::gemm(shape.rows, hidden, 2 * hidden, 1, {gates, width}, back.from(0), 1, dstate.data(), hidden);
    }
  }

  Sequence sequence_;
  GruForm form_;
  bool has_initial_, bias_per_sentence_;
  Tensor gates_;   // [words, 3·hidden]: activated; backward turns them into their gradients in place
  Tensor inner_;   // [words, hidden]: h' U_n + b_n (reset after; becomes a gradient too) or r ∘ h' (reset before)
  Tensor states_;  // [batch + words, hidden]
};

}  // namespace

GruResult gru(const Var& x, const GruWeights& weights, const Var& initial, const GruForm& form,
              const SequenceOptions& options) {
  Gru run("gru", x, weights, initial, form, &options);
  Tensor y = run.outputs(), state = run.last_state();
  const Place dstate = run.dlast_state;
  const Var outputs =
      record("gru", y, {x, weights.input, weights.recurrent, weights.bias, weights.candidate_bias, initial},
             [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run.backward(dy, wanted); });
  return {outputs, further_result(outputs, state, dstate)};
}

Var gru_step(const Var& x, const Var& before, const GruWeights& weights, const GruForm& form) {
  Gru run("gru_step", x, weights, before, form, nullptr);
  Tensor h = run.outputs();
  return record("gru_step", h, {x, weights.input, weights.recurrent, weights.bias, weights.candidate_bias, before},
                [run = std::move(run)](const Tensor& dy, Wanted wanted) mutable { return run.backward(dy, wanted); });
}

}  // namespace heed
