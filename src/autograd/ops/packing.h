#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "heed/base/threads.h"
#include "heed/kernels/elementwise.h"
#include "heed/tensor/tensor.h"

namespace heed {

// The batch without its padding. Source are ordered by falling length, so that those still running at a step are
// the first ones; the words of a step are neighbours, step after step:
//   row first(s) + i of a packed tensor is the word that the i-th longest sentence reads at step s.
// Direction is nothing but the choice of that word.
class Packing {
 public:
  // lengths [batch], each 0..time; empty: all are of full length.
  Packing(Index batch, Index time, const Ids& lengths, bool reverse) : batch_(batch), time_(time) {
    std::vector<Index> words(static_cast<std::size_t>(batch), time);  // of each sentence
    if (lengths) std::copy_n(lengths.contiguous().data(), batch, words.begin());
    order_.resize(words.size());
    std::iota(order_.begin(), order_.end(), Index{0});
    std::stable_sort(order_.begin(), order_.end(), [&](Index a, Index b) { return words[to(a)] > words[to(b)]; });
    first_.push_back(0);
    for (Index step = 0, running = batch; step < time; ++step) {
      while (running > 0 && words[to(order_[to(running - 1)])] <= step) --running;
      if (running == 0) break;
      first_.push_back(first_.back() + running);
      for (Index i = 0; i < running; ++i) {
        const Index sentence = order_[to(i)];
        words_.push_back(sentence * time + (reverse ? words[to(sentence)] - 1 - step : step));
      }
    }
    length_.reserve(words.size());
    for (const Index sentence : order_) length_.push_back(words[to(sentence)]);
  }

  Index batch() const { return batch_; }
  Index steps() const { return static_cast<Index>(first_.size()) - 1; }
  Index words() const { return first_.back(); }
  Index first(Index step) const { return first_[to(step)]; }
  Index running(Index step) const { return first_[to(step + 1)] - first_[to(step)]; }
  // Nothing ends early: every step has the whole batch.
  bool even() const { return words() == batch_ * steps(); }

  // [batch, time, width] → [words, width], or the rows [begin, end) of that.
  void pack(const Tensor& x, Tensor& packed) const { pack(x, 0, words(), packed); }
  void pack(const Tensor& x, Index begin, Index end, Tensor& packed) const {
    const Index width = packed.size(-1);
    over_rows(end - begin, width, [&](Index row) { copy(x, words_[to(begin + row)], packed, row, width); });
  }
  // And back, into columns of x from `column` on, with zeros in the padding; `add`: to what is there.
  void unpack(const Tensor& packed, Tensor& x, Index column = 0, bool add = false) const {
    const Index width = packed.size(-1), stride = x.size(-1);
    Real* const to_data = x.data() + column;
    over_rows(words(), width, [&](Index row) {
      const Real* const from = packed.data() + row * width;
      Real* const word = to_data + words_[to(row)] * stride;
      if (add)
        kernels::accumulate(width, from, word);
      else
        std::copy_n(from, width, word);
    });
    if (add || words() == batch_ * time_) return;
    for (Index i = 0; i < batch_; ++i)
      for (Index t = length_[to(i)]; t < time_; ++t)
        std::fill_n(to_data + (order_[to(i)] * time_ + t) * stride, width, Real{0});
  }
  // Row i of `sum` += the word that sentence i reads at this step, of columns of x from `column` on.
  void add_step(const Tensor& x, Index column, Index step, Tensor& sum) const {
    const Index width = sum.size(-1), stride = x.size(-1), start = first(step);
    over_rows(running(step), width, [&](Index row) {
      kernels::accumulate(width, x.data() + words_[to(start + row)] * stride + column, sum.data() + row * width);
    });
  }

  // Every word's row of `packed` from `begin` to `end` += its sentence's row of x [batch, width].
  void add_to_words(const Tensor& x, Index begin, Index end, Tensor& packed) const {
    const Index width = packed.size(-1);
    over_rows(end - begin, width, [&](Index row) {
      kernels::accumulate(width, x.data() + words_[to(begin + row)] / time_ * width,
                          packed.data() + (begin + row) * width);
    });
  }
  // And back: the sum of each sentence's rows, [batch, width].
  Tensor sum_by_sentence(const Tensor& packed) const {
    const Index width = packed.size(-1);
    Tensor sums(Shape{batch_, width}, Real{0});
    for (Index row = 0; row < words(); ++row)
      kernels::accumulate(width, packed.data() + row * width, sums.data() + words_[to(row)] / time_ * width);
    return sums;
  }

  // States of all steps in one tensor [batch + words, hidden]: the initial ones of all sentences, then those that the
  // steps produce. A step finds the states it starts from, in order, at row before(step).
  Index before(Index step) const { return step == 0 ? 0 : batch_ + first(step - 1); }
  Index after(Index step) const { return batch_ + first(step); }
  // The states that each word's step started from, in packed order: [words, hidden]. A view where nothing ends early.
  Tensor states_before(const Tensor& states) const {
    if (even()) return states.slice(0, 0, words());
    const Index width = states.size(-1);
    Tensor result(Shape{words(), width});
    for (Index step = 0; step < steps(); ++step)
      std::copy_n(states.data() + before(step) * width, running(step) * width, result.data() + first(step) * width);
    return result;
  }
  // The state each sentence ended with, in the order of the batch.
  Tensor last_states(const Tensor& states) const {
    Tensor last(Shape{batch_, states.size(-1)});
    for (Index i = 0; i < batch_; ++i) {
      const Index row = length_[to(i)] == 0 ? i : after(length_[to(i)] - 1) + i;
      copy(states, row, last, order_[to(i)], last.size(-1));
    }
    return last;
  }
  // From the order of the batch to that of the packing, and back. An empty tensor is zeros.
  void sort(const Tensor& x, Tensor& sorted) const {
    const Index width = sorted.size(-1);
    if (!x) std::fill_n(sorted.data(), batch_ * width, Real{0});
    for (Index i = 0; x && i < batch_; ++i) copy(x, order_[to(i)], sorted, i, width);
  }
  Tensor unsort(const Tensor& sorted) const {
    Tensor x(sorted.shape());
    for (Index i = 0; i < batch_; ++i) copy(sorted, i, x, order_[to(i)], x.size(-1));
    return x;
  }

 private:
  static std::size_t to(Index i) { return static_cast<std::size_t>(i); }
  static void copy(const Tensor& from, Index from_row, Tensor& to, Index to_row, Index width) {
    std::copy_n(from.data() + from_row * width, width, to.data() + to_row * width);
  }
  template <class Body>
  static void over_rows(Index rows, Index width, const Body& body) {
    parallel_for(rows, 1 + 16384 / (width + 1), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) body(row);
    });
  }

  Index batch_, time_;
  std::vector<Index> order_;   // sentences by falling length
  std::vector<Index> length_;  // of order_[i]
  std::vector<Index> first_;   // packed row at which a step begins, and the end
  std::vector<Index> words_;   // packed row → row of [batch · time]
};

}  // namespace heed
