#include "heed/autograd/ops/recurrent.h"

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "support/op_cases.h"

namespace heed::test {
namespace {

// Inputs in order: x, W, U, then the bias (and the candidate's) if "bias", then the initial state(s) if "initial".
struct Inputs {
  std::span<const Var> list;
  std::size_t next = 0;
  Var take(bool there = true) { return there ? list[next++] : Var(); }
};

bool flag(const Attributes& a, const char* name) { return a.value(name, 0) != 0; }

SequenceOptions sequence_options(const Attributes& a) {
  return {a.contains("lengths") ? ids_from(a.at("lengths")) : Ids(), flag(a, "reverse")};
}
GruForm form_from(const Attributes& a) {
  return {a.at("reset") == "before" ? GruReset::before_product : GruReset::after_product,
          a.at("update") == "takes" ? UpdateGate::takes_candidate : UpdateGate::keeps_state};
}
bool resets_after(const Attributes& a) { return a.at("reset") == "after"; }

LstmWeights lstm_weights(Inputs& in, const Attributes& a) { return {in.take(), in.take(), in.take(flag(a, "bias"))}; }
GruWeights gru_weights(Inputs& in, const Attributes& a) {
  return {in.take(), in.take(), in.take(flag(a, "bias")), in.take(flag(a, "bias") && resets_after(a))};
}

LstmResult run_lstm(std::span<const Var> list, const Attributes& a) {
  Inputs in{list};
  const Var x = in.take();
  const LstmWeights weights = lstm_weights(in, a);
  return lstm(x, weights, {in.take(flag(a, "initial")), in.take(flag(a, "initial"))}, sequence_options(a));
}
GruResult run_gru(std::span<const Var> list, const Attributes& a) {
  Inputs in{list};
  const Var x = in.take();
  const GruWeights weights = gru_weights(in, a);
  return gru(x, weights, in.take(flag(a, "initial")), form_from(a), sequence_options(a));
}

LstmBothResult run_lstm_both_ways(std::span<const Var> list, const Attributes& a) {
  Inputs in{list};
  const Var x = in.take();
  const bool initial = flag(a, "initial");
  const LstmWeights ahead = lstm_weights(in, a);
  const LstmState ahead_state{in.take(initial), in.take(initial)};
  const LstmWeights back = lstm_weights(in, a);
  return lstm_both_ways(x, {ahead, back}, {ahead_state, {in.take(initial), in.take(initial)}}, sequence_options(a));
}
GruBothResult run_gru_both_ways(std::span<const Var> list, const Attributes& a) {
  Inputs in{list};
  const Var x = in.take();
  const bool initial = flag(a, "initial");
  const GruWeights ahead = gru_weights(in, a);
  const Var ahead_state = in.take(initial);
  const GruWeights back = gru_weights(in, a);
  return gru_both_ways(x, {ahead, back}, {ahead_state, in.take(initial)}, form_from(a), sequence_options(a));
}

constexpr Index kBatch = 3, kTime = 3, kIn = 2, kHidden = 3;

OpExample recurrent_example(Index gates, const Attributes& a, bool step = false) {
  OpExample result{{step ? Shape{kBatch, kIn} : Shape{kBatch, kTime, kIn}, Shape{kIn, gates * kHidden},
                    Shape{kHidden, gates * kHidden}},
                   a};
  if (flag(a, "bias")) result.shapes.push_back(Shape{gates * kHidden});
  if (flag(a, "bias") && gates == 3 && resets_after(a)) result.shapes.push_back(Shape{kHidden});
  for (Index states = gates == 4 ? 2 : 1; flag(a, "initial") && states > 0; --states)
    result.shapes.push_back(Shape{kBatch, kHidden});
  return result;
}

// Every direction, bias, initial state and kind of lengths with each of the given forms.
std::vector<OpExample> sequences(Index gates, const std::vector<Attributes>& forms) {
  std::vector<OpExample> list;
  for (const Attributes& form : forms)
    for (const int reverse : {0, 1})
      for (const int initial : {0, 1})
        for (const Attributes& lengths : {Attributes(), Attributes({3, 3, 3}), Attributes({2, 3, 1}),
                                          Attributes({1, 1, 1}), Attributes({0, 3, 2})}) {
          Attributes a = form;
          a["reverse"] = reverse, a["initial"] = initial, a["bias"] = reverse == 0 || initial == 1 ? 1 : 0;
          if (!lengths.is_null()) a["lengths"] = lengths;
          list.push_back(recurrent_example(gates, a));
        }
  return list;
}
// The same with a second cell, whose inputs follow the first one's.
std::vector<OpExample> both_ways(std::vector<OpExample> examples) {
  for (OpExample& each : examples) {
    const std::vector<Shape> ahead(each.shapes.begin() + 1, each.shapes.end());
    each.shapes.insert(each.shapes.end(), ahead.begin(), ahead.end());
  }
  return examples;
}
std::vector<OpExample> steps(Index gates, const std::vector<Attributes>& forms) {
  std::vector<OpExample> list;
  for (Attributes form : forms)
    for (const int initial : {0, 1}) {
      form["initial"] = initial, form["bias"] = 1;
      list.push_back(recurrent_example(gates, form, true));
    }
  return list;
}

// Those of the examples that have a bias, with one for each sentence.
std::vector<OpExample> with_bias_per_sentence(std::vector<OpExample> examples, Index gates) {
  std::erase_if(examples, [](const OpExample& e) { return !flag(e.attributes, "bias"); });
  for (OpExample& each : examples) each.shapes[3] = Shape{kBatch, gates * kHidden};
  return examples;
}

const std::vector<Attributes> kLstm{Attributes::object()};
const std::vector<Attributes> kForms{{{"reset", "after"}, {"update", "keeps"}},
                                     {{"reset", "after"}, {"update", "takes"}},
                                     {{"reset", "before"}, {"update", "keeps"}},
                                     {{"reset", "before"}, {"update", "takes"}}};

const RegisterOps recurrent_ops{
    {"lstm", sequences(4, kLstm), [](std::span<const Var> in, const Attributes& a) { return run_lstm(in, a).outputs; }},
    {"gru", sequences(3, kForms), [](std::span<const Var> in, const Attributes& a) { return run_gru(in, a).outputs; }},
    {"lstm_bias_per_sentence", with_bias_per_sentence(sequences(4, kLstm), 4),
     [](std::span<const Var> in, const Attributes& a) { return run_lstm(in, a).outputs; }},
    {"gru_bias_per_sentence", with_bias_per_sentence(sequences(3, kForms), 3),
     [](std::span<const Var> in, const Attributes& a) { return run_gru(in, a).outputs; }},
    // The last states alone; then together with the outputs, which broadcast since batch = time.
    {"further_result", sequences(4, kLstm),
     [](std::span<const Var> in, const Attributes& a) {
       const LstmResult result = run_lstm(in, a);
       return a.at("reverse") == 0 ? result.last.cell : result.last.hidden * result.last.cell;
     }},
    {"lstm_all_results", sequences(4, kLstm),
     [](std::span<const Var> in, const Attributes& a) {
       const LstmResult result = run_lstm(in, a);
       return tanh(result.outputs) * (result.last.hidden + square(result.last.cell));
     }},
    {"gru_all_results", sequences(3, kForms),
     [](std::span<const Var> in, const Attributes& a) {
       const GruResult result = run_gru(in, a);
       return tanh(result.outputs) * result.last;
     }},
    {"lstm_both_ways", both_ways(sequences(4, kLstm)),
     [](std::span<const Var> in, const Attributes& a) { return run_lstm_both_ways(in, a).outputs; }},
    {"gru_both_ways", both_ways(sequences(3, kForms)),
     [](std::span<const Var> in, const Attributes& a) { return run_gru_both_ways(in, a).outputs; }},
    {"lstm_both_ways_all_results", both_ways(sequences(4, kLstm)),
     [](std::span<const Var> in, const Attributes& a) {
       const auto [outputs, last] = run_lstm_both_ways(in, a);
       return sum(tanh(outputs)) * (last.ahead.hidden + square(last.ahead.cell)) * (last.back.cell - last.back.hidden);
     }},
    {"gru_both_ways_all_results", both_ways(sequences(3, kForms)),
     [](std::span<const Var> in, const Attributes& a) {
       const auto [outputs, last] = run_gru_both_ways(in, a);
       return sum(tanh(outputs)) * last.ahead * square(last.back);
     }},
    {"lstm_step", steps(4, kLstm),
     [](std::span<const Var> list, const Attributes& a) {
       Inputs in{list};
       const Var x = in.take();
       const LstmWeights weights = lstm_weights(in, a);
       const LstmState after = lstm_step(x, {in.take(flag(a, "initial")), in.take(flag(a, "initial"))}, weights);
       return after.hidden + square(after.cell);
     }},
    {"gru_step", steps(3, kForms),
     [](std::span<const Var> list, const Attributes& a) {
       Inputs in{list};
       const Var x = in.take();
       const GruWeights weights = gru_weights(in, a);
       return gru_step(x, in.take(flag(a, "initial")), weights, form_from(a));
     }},
};

}  // namespace
}  // namespace heed::test
