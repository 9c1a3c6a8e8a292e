#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attention/composition_cases.h"
#include "heed/attention/losses.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/multi_head.h"
#include "heed/autograd/ops/shape.h"

namespace heed::test {
namespace {

template <class F>
std::string words_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal(const AttentionOptions& options) {
  return words_of([&] { const Instance instance(options); });
}
template <class T>
std::string refusal(T AttentionOptions::*field, const T& value, AttentionOptions options) {
  options.*field = value;
  return refusal(options);
}

// Of a call that should never get as far as an answer.
std::string refusal(const AttentionOptions& options, const Inputs& inputs) {
  const Instance instance(options);
  return words_of([&] { ask(instance.attention, inputs); });
}

TEST(AttentionErrors, UnknownNamesSayTheNearest) {
  EXPECT_EQ(refusal(composed_of("additve")), "[attention] there is no score additve; did you mean additive?");
  EXPECT_EQ(refusal(composed_of("dot", "casual")), "[attention] there is no window casual; did you mean causal?");
  EXPECT_EQ(refusal(composed_of("dot", "global", "sparsmax")),
            "[attention] there is no normaliser sparsmax; did you mean sparsemax?");
  EXPECT_EQ(words_of([] { mechanism_named("bahdanu"); }),
            "[attention] there is no mechanism bahdanu; did you mean bahdanau?");
}

TEST(AttentionErrors, UnknownNamesFarFromAllListThem) {
  const std::string words = refusal(composed_of("qqqqqqqq"));
  EXPECT_EQ(words.rfind("[attention] there is no score qqqqqqqq; there are: ", 0), 0U) << words;
  for (const auto& entry : RegisterScore::entries()) EXPECT_NE(words.find(entry.name), std::string::npos) << entry.name;
}

// A combination is refused only if its parts contradict each other, and then it says which.
TEST(AttentionErrors, CombinationsThatMakeNoSenseSayWhy) {
  const std::set<std::string> self_scores = {"context", "rows"};
  for (const auto& [options, words] : every_refusal()) {
    SCOPED_TRACE(options.score + " × " + options.window + " × " + options.normaliser);
    if (options.normaliser == "monotonic" && options.window == "local-p" && !self_scores.count(options.score)) {
      EXPECT_EQ(words,
                "[attention] monotonic weights are a scan over the memory; the gain of local-p would break their sum");
      continue;
    }
    EXPECT_TRUE(self_scores.count(options.score)) << words;
    EXPECT_TRUE(options.window != "global" || options.normaliser == "monotonic") << words;
    EXPECT_EQ(words.rfind("[attention] score " + options.score, 0), 0U) << words;
  }
  EXPECT_EQ(refusal(small(composed_of("rows", "causal"))),
            "[attention] score rows has no query positions, so window causal has nothing to compare them with");
  EXPECT_EQ(refusal(small(composed_of("context", "local-m"))),
            "[attention] score context has no query positions, so window local-m has nothing to compare them with");
  EXPECT_EQ(refusal(small(composed_of("rows", "median"))),
            "[attention] score rows asks nothing step by step, so window median does not apply");
  EXPECT_EQ(refusal(small(composed_of("rows", "global", "monotonic"))),
            "[attention] score rows asks nothing step by step, so normaliser monotonic does not apply");
}

TEST(AttentionErrors, OptionsOutsideTheirRange) {
  using Options = AttentionOptions;
  const auto with = [](const char* score, const char* window = "global", const char* normaliser = "softmax") {
    return small(composed_of(score, window, normaliser));
  };
  EXPECT_EQ(refusal(&Options::neighbours, Index{0}, with("dot", "restricted")),
            "[restricted] the neighbourhood must be positive: 0");
  EXPECT_EQ(refusal(&Options::neighbours, Index{-3}, with("dot", "sliding")),
            "[sliding] the neighbourhood must be positive: -3");
  EXPECT_EQ(refusal(&Options::global_tokens, Index{-1}, with("dot", "sliding")),
            "[sliding] global tokens must not be negative: -1");
  EXPECT_EQ(refusal(&Options::half_width, Index{-1}, with("dot", "local-m")),
            "[local-m] the half width must not be negative: -1");
  EXPECT_EQ(refusal(&Options::half_width, Index{0}, with("dot", "local-p")),
            "[local-p] the half width must be positive: 0");
  EXPECT_EQ(refusal(&Options::half_width, Index{-1}, with("dot", "median")),
            "[median] the half width must not be negative: -1");
  EXPECT_EQ(refusal(&Options::temperature, 0., with("dot", "global", "sharpened")),
            "[sharpened] the temperature must be positive: 0");
  EXPECT_EQ(refusal(&Options::temperature, -1., with("dot", "global", "sharpened")),
            "[sharpened] the temperature must be positive: -1");
  EXPECT_EQ(refusal(&Options::temperature, std::nan(""), with("dot", "global", "sharpened")),
            "[sharpened] the temperature must be positive: nan");
  EXPECT_EQ(refusal(&Options::top_k, Index{-1}, with("dot", "global", "sharpened")),
            "[sharpened] top-k must not be negative: -1");
  EXPECT_EQ(refusal(&Options::temperature, 0., with("dot", "global", "sparsemax")),
            "[sparsemax] the temperature must be positive: 0");
  EXPECT_EQ(refusal(&Options::temperature, 0., with("dot", "global", "hard")),
            "[hard] the temperature must be positive: 0");
  EXPECT_EQ(refusal(&Options::soft_mixing, 1.5, with("dot", "global", "hard")),
            "[hard] soft mixing 1.5 is outside [0, 1]");
  EXPECT_EQ(refusal(&Options::longest, Index{0}, with("location")),
            "[location] the longest memory must be given, not 0");
  EXPECT_EQ(refusal(&Options::filter_width, Index{200}, with("location-aware")),
            "[location-aware] needs filters of odd width, not 2 of 200");
  EXPECT_EQ(refusal(&Options::filters, Index{0}, with("location-aware")),
            "[location-aware] needs filters of odd width, not 0 of 3");
  EXPECT_EQ(refusal(&Options::fertility, -1., with("coverage")), "[coverage] the fertility must not be negative: -1");
  EXPECT_EQ(refusal(&Options::relative, Index{0}, with("relative")), "[relative] needs a positive reach, not 0");
  Options odd = with("rotary");
  odd.query_width = 5;
  EXPECT_EQ(refusal(&Options::key_width, Index{5}, odd), "[rotary] needs an even width, not 5");
  EXPECT_EQ(refusal(&Options::rows, Index{0}, with("rows")), "[rows] needs at least one row of weights, not 0");
}

// Sizes below zero too speak of the option, not of the tensor it would have made.
TEST(AttentionErrors, NegativeSizesNameTheOption) {
  using Options = AttentionOptions;
  EXPECT_EQ(refusal(&Options::rows, Index{-2}, small(composed_of("rows"))),
            "[rows] needs at least one row of weights, not -2");
  EXPECT_EQ(refusal(&Options::longest, Index{-2}, small(composed_of("location"))),
            "[location] the longest memory must be given, not -2");
  EXPECT_EQ(refusal(&Options::relative, Index{-2}, small(composed_of("relative"))),
            "[relative] needs a positive reach, not -2");
  EXPECT_EQ(refusal(&Options::filters, Index{-2}, small(composed_of("location-aware"))),
            "[location-aware] needs filters of odd width, not -2 of 3");
  EXPECT_EQ(refusal(&Options::filter_width, Index{-3}, small(composed_of("location-aware"))),
            "[location-aware] needs filters of odd width, not 2 of -3");
}

TEST(AttentionErrors, MoreThanThereIs) {
  EXPECT_EQ(refusal(small(composed_of("location")), random_inputs({.m = 7}, 1)),
            "[location] a memory of 7 is longer than the longest, 6");
}

TEST(AttentionErrors, Lengths) {
  const Instance instance(small({}));
  const Inputs inputs = random_inputs({}, 1);
  const auto with = [&](const Ids& lengths) {
    return words_of([&] { instance.attention.memory(inputs.keys, inputs.values, lengths); });
  };
  EXPECT_EQ(with(ids({5, 6})), "[attention] a length of 6 is outside 0..5");
  EXPECT_EQ(with(ids({-1, 2})), "[attention] a length of -1 is outside 0..5");
  EXPECT_EQ(with(ids({5})), "[attention] lengths [1] do not fit a batch of 2");
  EXPECT_EQ(with(Ids(Shape{2, 1}, 3)), "[attention] lengths [2, 1] do not fit a batch of 2");
  EXPECT_EQ(with(ids({5, 0})), "no error");
}

TEST(AttentionErrors, LengthsMayBeARepeatedView) {
  const Instance instance(small({}));
  const Inputs inputs = random_inputs({}, 1);
  const Ids repeated = Ids(Shape{1}, 3).expand(Shape{2});  // two lengths, one number in memory
  const Memory memory = instance.attention.memory(inputs.keys, inputs.values, repeated);
  EXPECT_EQ(memory.lengths.at({1}), 3);
  EXPECT_TRUE(memory.lengths.contiguous_layout());
  const Mask real = padding_mask(memory.lengths, 5);
  EXPECT_TRUE(real.at({1, 2}));
  EXPECT_FALSE(real.at({1, 3}));
}

TEST(AttentionErrors, ShapesThatDoNotFit) {
  const Instance instance(small({}));
  const auto zeros = [](std::initializer_list<Index> sizes) { return Var(Tensor(Shape(sizes), Real{0})); };
  const auto memory = [&](const Var& keys, const Var& values) {
    return words_of([&] { instance.attention.memory(keys, values); });
  };
  EXPECT_EQ(memory(zeros({2, 0, 4}), zeros({2, 0, 4})), "[attention] the memory is empty: keys [2, 0, 4]");
  EXPECT_EQ(memory(zeros({5, 4}), zeros({5, 4})),
            "[attention] keys have shape [5, 4], not [batch, m, width] or [batch, heads, m, width]");
  EXPECT_EQ(memory(zeros({2, 5, 4}), zeros({2, 6, 4})),
            "[attention] keys [2, 5, 4] and values [2, 6, 4] do not belong together");
  EXPECT_EQ(memory(zeros({2, 5, 4}), zeros({3, 5, 4})),
            "[attention] keys [2, 5, 4] and values [3, 5, 4] do not belong together");

  const Memory good = instance.attention.memory(zeros({2, 5, 4}), zeros({2, 5, 4}));
  const auto query = [&](const Var& vectors) {
    return words_of([&] {
      Query asked;
      asked.vectors = vectors;
      instance.attention(asked, good);
    });
  };
  EXPECT_EQ(query(zeros({3, 1, 4})), "[attention] queries [3, 1, 1, 4] do not fit keys [2, 1, 5, 4]");
  EXPECT_EQ(query(zeros({2, 2, 1, 4})), "[attention] queries [2, 2, 1, 4] do not fit keys [2, 1, 5, 4]");
  EXPECT_EQ(query(zeros({2, 1, 3})), "[scaled-dot] queries of width 3 do not fit keys of width 4");
  EXPECT_EQ(query(Var()), "[attention] queries have shape [], not [batch, m, width] or [batch, heads, m, width]");
}

TEST(AttentionErrors, AMaskOfAnotherShape) {
  const Instance instance(small({}));
  const Inputs inputs = random_inputs({}, 1);
  const auto masked = [&](const Mask& visible) {
    return words_of([&] {
      Query query;
      query.vectors = inputs.queries;
      query.visible = visible;
      instance.attention(query, instance.attention.memory(inputs.keys, inputs.values));
    });
  };
  EXPECT_EQ(masked(Mask(Shape{3, 5}, true)), "no error");
  EXPECT_EQ(masked(Mask(Shape{2, 3, 3, 5}, true)),
            "[attention] a mask of shape [2, 3, 3, 5] does not fit [2, 1, 3, 5]");
  EXPECT_NE(masked(Mask(Shape{4, 5}, true)), "no error");
}

// Before anything is computed.
TEST(AttentionErrors, ProductsOfUnequalWidths) {
  std::set<std::string> refused;
  for (const auto& entry : RegisterScore::entries()) {
    AttentionOptions options = small(composed_of(entry.name));
    options.query_width = 8;
    if (refusal(options) != "[" + entry.name + "] queries of width 8 do not fit keys of width 4") continue;
    refused.insert(entry.name);
    EXPECT_EQ(entry.widths, Widths::equal);
  }
  EXPECT_EQ(refused, (std::set<std::string>{"alibi", "dot", "relative", "rotary", "scaled-dot"}));
}

// For every score: vectors of another width than it was made for never get as far as an answer.
TEST(AttentionErrors, EveryScoreRefusesWidthsItWasNotMadeFor) {
  for (const auto& entry : RegisterScore::entries()) {
    SCOPED_TRACE(entry.name);
    Inputs inputs = random_inputs({.n = 1}, 1);
    inputs.queries = Var(random_tensor(Shape{2, 1, 1, 6}, 1));
    const bool ignores_both = entry.name == "uniform";
    const bool ignores_queries = ignores_both || entry.name == "context" || entry.name == "rows";
    EXPECT_EQ(refusal(small(composed_of(entry.name)), inputs) == "no error", ignores_queries);
    inputs = random_inputs({.n = 1}, 1);
    inputs.keys = Var(random_tensor(Shape{2, 1, 5, 6}, 1));
    const bool ignores_keys = ignores_both || entry.name == "location";
    EXPECT_EQ(refusal(small(composed_of(entry.name)), inputs) == "no error", ignores_keys);
  }
}

TEST(AttentionErrors, StateIsCarriedOneQueryAtATimeAndSaysByWhom) {
  const auto many = [](const char* score, const char* window, const char* normaliser) {
    const Instance instance(small(composed_of(score, window, normaliser)));
    const Inputs inputs = random_inputs({}, 1);
    return words_of([&] {
      Query query;
      query.vectors = inputs.queries;
      instance.attention(query, instance.attention.memory(inputs.keys, inputs.values));
    });
  };
  const std::string rest = " carries state from step to step and takes one query at a time, not 3";
  EXPECT_EQ(many("coverage", "global", "softmax"), "[attention] coverage" + rest);
  EXPECT_EQ(many("dot", "median", "softmax"), "[attention] median" + rest);
  EXPECT_EQ(many("dot", "global", "monotonic"), "[attention] monotonic" + rest);
}

TEST(AttentionErrors, APastOfAnotherMemory) {
  const auto go_on = [](const char* score, const char* window, const Past& past) {
    const Instance instance(small(composed_of(score, window)));
    const Inputs inputs = random_inputs({.n = 1}, 1);
    return words_of([&] {
      Query query;
      query.vectors = inputs.queries;
      query.past = &past;
      instance.attention(query, instance.attention.memory(inputs.keys, inputs.values));
    });
  };
  Past past;
  past.weights = Var(Tensor(Shape{2, 1, 1, 3}, Real{0}));
  EXPECT_EQ(go_on("dot", "median", past),
            "[attention] the past weights [2, 1, 1, 3] do not fit this memory: [2, 1, 1, 5]");
  EXPECT_EQ(go_on("location-aware", "global", past),
            "[attention] the past weights [2, 1, 1, 3] do not fit this memory: [2, 1, 1, 5]");
  past = {};
  past.coverage = Var(Tensor(Shape{1, 1, 1, 5}, Real{0}));
  EXPECT_EQ(go_on("coverage", "global", past),
            "[attention] the past sums of weights [1, 1, 1, 5] do not fit this memory: [2, 1, 1, 5]");
  past = {};
  past.read = Var(Tensor(Shape{2, 1, 1, 3}, Real{0}));
  EXPECT_EQ(go_on("word-by-word", "global", past),
            "[attention] the past reads [2, 1, 1, 3] do not fit this memory: [2, 1, 1, 4]");
}

TEST(AttentionErrors, HeadsThatDoNotDivideTheWidth) {
  Parameters parameters;
  MultiHeadOptions options{.width = 10, .attention = {}};
  options.attention.heads = 4;
  EXPECT_EQ(words_of([&] { const MultiHead heads(Scope(parameters), options); }),
            "[multi-head] a width of 10 does not split into 4 heads");
}

TEST(AttentionErrors, AttentionOverAttentionChecksItsLengths) {
  const Var document(Tensor(Shape{2, 3, 2}, Real{0})), question(Tensor(Shape{2, 2, 2}, Real{0}));
  EXPECT_EQ(words_of([&] {
              attention_over_attention(document, question, ids({3, 4}), {});
            }),
            "[attention_over_attention] a length of 4 is outside 0..3");
  EXPECT_EQ(words_of([&] { attention_over_attention(document, question, {}, ids({1})); }),
            "[attention_over_attention] lengths [1] do not fit a batch of 2");
}

}  // namespace
}  // namespace heed::test
