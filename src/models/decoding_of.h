#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/attention/parts.h"
#include "heed/autograd/ops/recurrent.h"
#include "heed/autograd/ops/shape.h"
#include "heed/data/symbols.h"
#include "heed/models/system.h"
#include "heed/models/writable_words.h"

namespace heed {

// The rows `ids` [k] of the first axis, in that order. An empty Var stays empty.
inline void select_rows(Var& x, const Ids& ids) {
  if (x) x = gather(x, 0, ids);
}
inline void select_rows(Ids& x, const Ids& ids) {
  if (!x) return;
  const Ids from = x.contiguous();
  Ids picked(x.shape().with(0, ids.size()));
  const Index width = from.size() / std::max<Index>(from.size(0), 1);
  for (Index i = 0; i < ids.size(); ++i)
    std::copy_n(from.data() + ids.data()[i] * width, width, picked.data() + i * width);
  x = picked;
}

inline void select_rows(Memory& x, const Ids& ids) {
  if (x.keys) x.select(ids);
}

// Calls `visit` with every Var, Ids and Memory in what a model's Encoded and State are made of.
template <class Visitor>
void each_in(Var& x, Visitor&& visit) {
  visit(x);
}
template <class Visitor>
void each_in(LstmState& x, Visitor&& visit) {
  visit(x.hidden), visit(x.cell);
}
template <class Visitor>
void each_in(Past& x, Visitor&& visit) {
  visit(x.weights), visit(x.coverage), visit(x.read);
}
template <class Visitor>
void each_in(Memory& x, Visitor&& visit) {
  visit(x);
}
template <class Part, class Visitor>
void each_in(std::vector<Part>& list, Visitor&& visit) {
  for (Part& x : list) each_in(x, visit);
}

// What was encoded of sources that have several texts (Writer::forward), in a row for each text.
template <class Encoded>
void repeat_for_texts(Encoded& encoded, const Source& source, const Source& previous) {
  const Ids rows = rows_of_texts(source, previous);
  if (!rows) return;
  encoded.each([&rows](auto& x) {
    select_rows(x, rows);
    if constexpr (std::is_same_v<decltype(x), Memory&>) x = x.gathered();  // all queries of a text ask at once
  });
}

// Decoding with a model that has
//   Encoded encode(const Source& source) const              what does not change from step to step
//   State begin(const Encoded&) const                          what does; a value
//   StepScores step(const Encoded&, State&, previous) const    advances the state
// or a step that gives a Decoding::Step, of a model whose words cannot be restricted.
// Encoded and State have each(f), which calls f with every Var, Ids and Memory in them; rows are the first axis of all.
// The encoded source is touched only when rows of other sources take a place, so reordering hypotheses costs nothing
// there.
template <class Model>
class DecodingOf final : public Decoding {
 public:
  DecodingOf(const Model& model, const Source& source)
      : model_(model), known_(source.copies ? source.known : 0), writable_(source) {
    const NoGradient off;
    require(!source.writable || kRestricts, "[decoding] what this model writes cannot be restricted to a shortlist");
    encoded_ = model.encode(source);
    state_ = model.begin(encoded_);
    for (Index i = 0; i < source.batch(); ++i) sources_.push_back(i);
  }
  Step step(const Ids& previous) override {
    require((previous.shape() == Shape{rows()}), "[decoding] {} words for {} rows", previous.shape(), rows());
    const NoGradient off;
    Ids read = writable_.words_at(previous);
    if (known_ > 0) {
      read = read.copy();  // a word that was copied has no vector
      for (std::int32_t& id : read.values()) id = id < known_ ? id : kUnknown;
    }
    if constexpr (kRestricts)
      return writable_.step_of(model_.step(encoded_, state_, read), sources_);
    else
      return model_.step(encoded_, state_, read);
  }
  void select(const Ids& chosen) override {
    const NoGradient off;
    const Ids ids = chosen.contiguous();
    std::vector<Index> sources;
    for (const std::int32_t row : ids.values()) {
      require(row >= 0 && row < rows(), "[decoding] there is no row {} of {}", row, rows());
      sources.push_back(sources_[static_cast<std::size_t>(row)]);
    }
    const auto pick = [&ids](auto& x) { select_rows(x, ids); };
    state_.each(pick);
    if (sources != sources_) encoded_.each(pick);
    sources_ = std::move(sources);
  }
  Index rows() const override { return static_cast<Index>(sources_.size()); }

 private:
  static constexpr bool kRestricts =
      std::is_same_v<decltype(std::declval<const Model&>().step(std::declval<const typename Model::Encoded&>(),
                                                                std::declval<typename Model::State&>(), Ids())),
                     StepScores>;

  const Model& model_;
  Index known_;  // words of its vocabulary, if it copies others
  WritableWords writable_;
  typename Model::Encoded encoded_;
  typename Model::State state_;
  std::vector<Index> sources_;  // which source each row belongs to
};

}  // namespace heed
