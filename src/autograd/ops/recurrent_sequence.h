#pragma once

#include <optional>

#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/packing.h"
#include "heed/autograd/ops/recurrent.h"
#include "heed/base/threads.h"
#include "heed/kernels/gemm.h"

// What the recurrent cells share: a padded batch as a sequence of steps, the products of its steps, and the order of
// their work, of one cell or of two in opposite directions. A cell has
//   sequence()
//   begin_forward(), forward_steps(), end_forward(); write_outputs(y, column)
//   begin_backward(wanted), backward_steps(dy, column, wanted), end_backward(wanted, dx) → its inputs' gradients but dx
// of which the steps alone may run on another thread.

namespace heed::recurrent {

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

// Columns [begin, end) of weights, or with `back` the same turned round, by which every step multiplies its rows.
// Packed where enough steps have few rows; of many rows a transposed matrix costs up to 2.5 times as much (measured
// with oneDNN at a step's rows), so that a copy pays too.
class StepProduct {
 public:
  StepProduct(const Packing& packing, const Weight& weight, Index begin, Index end, bool back = false)
      : weight_(&weight), begin_(begin), end_(end) {
    if (weight.int8) return;
    const Index rows = weight.matrix.size(0), columns = end - begin;
    matrix_ = {weight.matrix.data() + begin, weight.matrix.size(1), back};
    depth_ = back ? columns : rows, width_ = back ? rows : columns;
    Index few = 0;
    for (Index step = 0; step < packing.steps(); ++step) few += kernels::takes_packed(packing.running(step)) ? 1 : 0;
    if (few > 2) {
      packed_ = Tensor(Shape{kernels::packed_size(width_, depth_)});
      kernels::pack(width_, depth_, matrix_, packed_.data());
    }
    if (back && packing.steps() - few > 2) {
      turned_ = Tensor(Shape{columns, rows});
      const Tensor plain = weight.matrix.slice(1, begin, end).contiguous();
      kernels::transpose(rows, columns, plain.data(), turned_.data());
      matrix_ = {turned_.data(), rows};
    }
  }
  // y = x W, or y = y + x W.
  void operator()(Index rows, const Real* x, Index x_stride, bool add, Real* y, Index y_stride) const {
    if (packed_ && kernels::takes_packed(rows))
      return kernels::gemm_packed(rows, width_, depth_, x, x_stride, packed_.data(), add ? 1 : 0, y, y_stride);
    if (weight_->int8) return weight_->int8->multiply(rows, x, x_stride, begin_, end_, add, y, y_stride);
    kernels::gemm(rows, width_, depth_, 1, {x, x_stride}, matrix_, add ? 1 : 0, y, y_stride);
  }

 private:
  const Weight* weight_;
  Index begin_, end_, depth_ = 0, width_ = 0;
  kernels::Matrix matrix_{};
  Tensor packed_, turned_;
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
  // A tensor for the states of all steps, with the initial ones filled in.
  Tensor states(const Tensor& initial) const {
    Tensor all(Shape{packing.batch() + packing.words(), hidden});
    packing.sort(initial, all);
    return all;
  }
  // The outputs, into columns of y from `column` on.
  void write_outputs(const Tensor& states, Tensor& y, Index column) const {
    packing.unpack(states.slice(0, packing.batch(), states.size(0)), y, column);
  }
  // The gradient of x from that of its words: dx is made, or added to.
  void give_words(const Tensor& packed, Tensor& dx) const {
    const bool add = static_cast<bool>(dx);
    if (!add) dx = Tensor(x.shape());
    packing.unpack(packed, dx, 0, add);
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

// x W of the steps to come, and the bias if there is one per sentence. Of several steps in one product: of as many as
// stay in cache until their steps read them, where the state's weights do too, else of all.
class InputProducts {
 public:
  InputProducts(const Sequence& sequence, const Tensor& bias)
      : bias_(bias && bias.rank() == 2 ? bias : Tensor()), rows_(sequence.packing.words()) {
    constexpr Index kWeights = Index{1} << 17, kGates = Index{1} << 17;  // numbers
    const Index width = sequence.gate_width;
    if (width * sequence.hidden <= kWeights) rows_ = std::min(rows_, kGates / width + sequence.packing.batch());
    if (!sequence.stepwise) packed_ = Tensor(Shape{rows_, sequence.in});
  }
  // Before a step: what it reads of gates [words, gates] is there afterwards.
  void provide(const Sequence& sequence, Index step, Tensor& gates) {
    const Packing& packing = sequence.packing;
    if (packing.first(step) < done_) return;
    const Index begin = done_, width = sequence.gate_width;
    while (step < packing.steps() && packing.first(step) + packing.running(step) - begin <= rows_)
      done_ = packing.first(step) + packing.running(step), ++step;
    const Real* x = sequence.x.data();
    if (!sequence.stepwise) packing.pack(sequence.x, begin, done_, packed_), x = packed_.data();
    sequence.input.multiply(done_ - begin, x, sequence.in, 0, width, false, gates.data() + begin * width, width);
    if (bias_) packing.add_to_words(bias_, begin, done_, gates);
  }

 private:
  Tensor bias_, packed_;
  Index rows_;  // most of a product
  Index done_ = 0;
};

// Which inputs of a cell need a gradient. The words are the first input of the op, the cell's others follow at
// `offset`.
struct WantedOfCell {
  Wanted wanted;
  std::size_t offset;
  bool operator()(std::size_t input) const { return wanted(input == 0 ? 0 : input + offset); }
};

// Both directions beside each other, where that outweighs a thread's waking and the products of a step would not be
// cut over more threads.
template <class Cell, class Run>
void beside(Both<Cell>& cells, const Run& run) {
  using kernels::kWorkOfThread;
  const Sequence& sequence = cells.ahead.sequence();
  const Index step = sequence.packing.batch() * sequence.hidden * sequence.gate_width;
  const bool pays = step * sequence.packing.steps() > kWorkOfThread && (thread_count() <= 2 || step < kWorkOfThread);
  parallel_for(2, pays ? 1 : 2, [&, alone = kernels::rows_alone()](Index begin, Index end) {
    const kernels::RowsAlone as_before(alone);  // on this thread, which may be another
    if (begin == 0) run(cells.ahead, Index{0});
    if (end == 2) run(cells.back, sequence.hidden);
  });
}

// One cell --------------------------------------------------------------------------------------------------------

template <class Cell>
Tensor run_forward(Cell& cell) {
  cell.begin_forward();
  cell.forward_steps();
  cell.end_forward();
  Tensor y(cell.sequence().output_shape());
  cell.write_outputs(y, 0);
  return y;
}

template <class Cell>
std::vector<Gradient> run_backward(Cell& cell, const Tensor& dy, const Wanted& wanted) {
  const WantedOfCell own{wanted, 0};
  Tensor dx;
  cell.begin_backward(own);
  cell.backward_steps(dy, 0, own);
  std::vector<Gradient> gradients = cell.end_backward(own, dx);
  gradients.insert(gradients.begin(), Gradient(dx));
  return gradients;
}

// Two, each with `inputs` inputs besides the words -----------------------------------------------------------------

template <class Cell>
Tensor run_forward(Both<Cell>& cells) {
  cells.ahead.begin_forward(), cells.back.begin_forward();
  beside(cells, [](Cell& cell, Index) { cell.forward_steps(); });
  cells.ahead.end_forward(), cells.back.end_forward();
  const Index hidden = cells.ahead.sequence().hidden;
  const Shape shape = cells.ahead.sequence().output_shape();
  Tensor y(Shape{shape[0], shape[1], hidden + cells.back.sequence().hidden});
  cells.ahead.write_outputs(y, 0), cells.back.write_outputs(y, hidden);
  return y;
}

template <class Cell>
std::vector<Gradient> run_backward(Both<Cell>& cells, const Tensor& given, const Wanted& wanted, std::size_t inputs) {
  const WantedOfCell ahead{wanted, 0}, back{wanted, inputs};
  const Tensor dy = given.contiguous();
  Tensor dx;
  cells.ahead.begin_backward(ahead), cells.back.begin_backward(back);
  beside(cells, [&](Cell& cell, Index column) { cell.backward_steps(dy, column, column == 0 ? ahead : back); });
  std::vector<Gradient> gradients = cells.ahead.end_backward(ahead, dx), more = cells.back.end_backward(back, dx);
  gradients.insert(gradients.begin(), Gradient(dx));
  gradients.insert(gradients.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return gradients;
}

}  // namespace heed::recurrent
