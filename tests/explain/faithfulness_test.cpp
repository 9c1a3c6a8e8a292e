#include "heed/explain/faithfulness.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/data/symbols.h"
#include "models/translation_cases.h"
#include "support/messages.h"

namespace heed::test {
namespace {

constexpr std::int32_t kKey = 3;  // "a"; the letters behind it are 4, 5, ...
constexpr Index kWords = 8;

// A model that looks at the word kKey, wherever it stands, and writes it: with it in the source each step gives it
// nearly all of the probability, without it every word has the same.
//   α_tj ∝ 1000 if x_j = kKey else 1 + j,  logits_t = 8 Σ_j gate_tj α_tj [x_j = kKey] on kKey, 0 elsewhere
class KeyModel final : public Writer {
 public:
  TeacherForced forward(const Source& source, const Source& previous, const ForwardOptions& options) const override {
    const Index batch = source.batch(), n = previous.longest(), m = source.longest();
    Tensor weights(Shape{batch, n, m}, Real{0}), writes(Shape{batch, m, kWords}, Real{0});
    for (Index b = 0; b < batch; ++b) {
      const Index length = source.lengths.at({b});
      const std::vector<Real> row = weights_of({source.words.data() + b * m, static_cast<std::size_t>(length)});
      for (Index t = 0; t < n; ++t) std::copy(row.begin(), row.end(), weights.data() + (b * n + t) * m);
      for (Index j = 0; j < length; ++j)
        if (source.words.at({b, j}) == kKey) writes.data()[(b * m + j) * kWords + kKey] = 8;
    }
    TeacherForced result;
    const Var alignment = options.gates ? Var(weights) * options.gates : Var(weights);
    result.words = matmul(alignment, Var(writes));
    if (options.alignment) result.alignment = alignment;
    return result;
  }
  std::vector<AttentionShape> attentions() const override { return {{.name = "decoder.source"}}; }
  std::unique_ptr<Decoding> start(const Source&) const override { return nullptr; }

  static std::vector<Real> weights_of(std::span<const std::int32_t> source) {
    std::vector<Real> row;
    Real sum = 0;
    for (std::size_t j = 0; j < source.size(); ++j)
      sum += row.emplace_back(source[j] == kKey ? 1000 : static_cast<Real>(1 + j));
    for (Real& weight : row) weight /= sum;
    return row;
  }
};

// The same as a label: kKey is chosen where it is among the words.
class KeyChooser final : public Chooser {
 public:
  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options) const override {
    const Source& source = inputs.back();
    const Source previous{.words = Ids(Shape{source.batch(), 1}, kBegin), .lengths = Ids(Shape{source.batch()}, 1)};
    const TeacherForced forced = KeyModel().forward(source, previous, options);
    return {reshape(forced.words.logits(), Shape{source.batch(), kWords}), forced.alignment, {}};
  }
  std::vector<AttentionShape> attentions() const override { return {{.name = "label", .columns = 1}}; }
  std::pair<int, int> alignment_axes() const override { return {kOutput, 1}; }
};

std::vector<std::int32_t> ids_of(const std::string& letters) {
  std::vector<std::int32_t> ids;
  for (const char letter : letters) ids.push_back(kKey + letter - 'a');
  return ids;
}

EncodedInput read(const std::string& letters) { return {.words = ids_of(letters), .ends = {}, .features = {}}; }

// Of the model above, for sources and outputs of single letters, the output without its end or with it.
std::unique_ptr<Evidence> evidence_of(const std::string& source, const std::string& output, bool end = false) {
  static const KeyModel model;
  std::vector<std::int32_t> words = ids_of(output);
  if (end) words.push_back(kEnd);
  return writer_evidence(model, read(source), std::move(words));
}

std::vector<Real> own_weights(const std::string& source) {
  std::vector<std::int32_t> ids = ids_of(source);
  ids.push_back(kEnd);
  return KeyModel::weights_of(ids);
}

// The rows of a trace whose rows are all the same.
Tensor rows_of(const std::vector<Real>& row, Index rows) {
  Tensor weights(Shape{rows, static_cast<Index>(row.size())});
  for (Index t = 0; t < rows; ++t)
    std::copy(row.begin(), row.end(), weights.data() + t * static_cast<Index>(row.size()));
  return weights;
}

// With the given rows of weights, or the model's own.
Trace trace_of(const std::string& source, const std::string& target, const std::vector<Real>& row = {}) {
  const auto text_of = [](const std::string& letters) {
    TraceText text{letters, {}, {}};
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto at = static_cast<Index>(i);
      text.tokens.push_back({letters.substr(i, 1), at, at + 1, at});
      text.words.push_back({letters.substr(i, 1), at, at + 1});
    }
    const auto end = static_cast<Index>(letters.size());
    text.tokens.push_back({"</s>", end, end, -1});
    return text;
  };
  Trace trace = pair_trace(text_of(source), text_of(target));
  trace.alignment = rows_of(row.empty() ? own_weights(source) : row, trace.output().size());
  return trace;
}

const std::vector<double> kBins = TrustOptions().bins;

TEST(Faithfulness, TheModelsOwnWeightsAreFaithful) {
  const auto evidence = evidence_of("bcade", "a");
  EXPECT_EQ(evidence->steps(), 1);
  EXPECT_EQ(evidence->places(), 5);
  const Tensor gradients = evidence->gradients();
  const Tensor changes = leave_one_out_changes(*evidence);
  ASSERT_EQ(gradients.shape(), (Shape{1, 5}));
  ASSERT_EQ(changes.shape(), (Shape{1, 5}));
  for (const Index j : {0, 1, 3, 4}) {
    EXPECT_EQ(gradients.at({0, j}), 0) << j;  // nothing else is written from
    EXPECT_LT(changes.at({0, j}), 1e-3) << j;
  }
  EXPECT_NEAR(changes.at({0, 2}), std::log(kWords), 5e-3);  // what is left is a guess among all words
  const ErasureScores scores = erasure_scores(*evidence, rows_of(own_weights("bcade"), 1), kBins);
  EXPECT_NEAR(scores.comprehensiveness, 1 - 1.0 / kWords, 5e-3);
  EXPECT_NEAR(scores.sufficiency, 0, 1e-3);
}

TEST(Faithfulness, WeightsOnOtherWordsAreNot) {
  const Tensor elsewhere(Shape{1, 6}, {0.3F, 0.25F, 0.01F, 0.2F, 0.15F, 0.09F});
  const ErasureScores scores = erasure_scores(*evidence_of("bcade", "a"), elsewhere, kBins);
  EXPECT_NEAR(scores.comprehensiveness, 0, 1e-3);
  EXPECT_NEAR(scores.sufficiency, 1 - 1.0 / kWords, 5e-3);
}

// Random weights find the word sometimes: neither as good as the model's own, nor as bad as those that avoid it.
TEST(Faithfulness, RandomWeightsStandBetweenNothingAndEverything) {
  const auto evidence = evidence_of("bcade", "a");
  const ErasureScores own = erasure_scores(*evidence, rows_of(own_weights("bcade"), 1), kBins);
  const ErasureScores random = random_erasure_scores(*evidence, kBins);
  EXPECT_GT(random.comprehensiveness, 0.01);
  EXPECT_LT(random.comprehensiveness, own.comprehensiveness - 0.1);
  EXPECT_GT(random.sufficiency, own.sufficiency + 0.1);
  EXPECT_LT(random.sufficiency, 1 - 1.0 / kWords);
  const std::vector<double> all{1}, nothing{0};
  EXPECT_EQ(random_erasure_scores(*evidence, nothing).comprehensiveness, 0);
  EXPECT_EQ(random_erasure_scores(*evidence, all).sufficiency, 0);
}

TEST(Faithfulness, RandomScoresAreTheSameInEveryCall) {
  const ErasureScores first = random_erasure_scores(*evidence_of("bcadeaddb", "aab"), kBins);
  for (int call = 0; call < 3; ++call) {
    const ErasureScores again = random_erasure_scores(*evidence_of("bcadeaddb", "aab"), kBins);
    EXPECT_EQ(again.comprehensiveness, first.comprehensiveness);
    EXPECT_EQ(again.sufficiency, first.sufficiency);
  }
}

// α ∂ ln p / ∂α by hand: with z = 8 α on one of V logits, p = e^z / (e^z + V - 1), so it is z (1 - p).
TEST(Faithfulness, TheGradientIsThatOfTheEquation) {
  const std::vector<Real> row = own_weights("cbaab");
  const double z = 8 * (static_cast<double>(row[2]) + static_cast<double>(row[3]));
  const double p = std::exp(z) / (std::exp(z) + kWords - 1);
  const Tensor gradients = evidence_of("cbaab", "a")->gradients();
  for (const Index j : {2, 3})
    EXPECT_NEAR(static_cast<double>(gradients.at({0, j})), 8 * static_cast<double>(row[2]) * (1 - p), 1e-6);
  EXPECT_GT(gradients.at({0, 2}), 0);
}

TEST(Faithfulness, MeasuresATraceWhole) {
  TrustOptions options;
  options.gold = parse_alignment("2-0 2-1");
  const auto evidence = evidence_of("bcade", "aa", true);
  const TraceTrust trust = measure_trust(*evidence, trace_of("bcade", "aa"), options);
  EXPECT_EQ(trust.entropy.size(), 3U);
  EXPECT_GT(trust.entropy[0], 0);
  EXPECT_LT(trust.entropy[0], 0.2);
  // One word stands out in both, the others are equal in one of the two: of 10 pairs 4 count, in the weights all 10.
  EXPECT_NEAR(trust.gradient_agreement, 4 / std::sqrt(40.0), 1e-6);
  EXPECT_GT(trust.leave_one_out_agreement, 0.5);
  EXPECT_GT(trust.comprehensiveness, 0.5);  // less than for "aa" alone: the end it guesses
  EXPECT_LT(trust.random_comprehensiveness, trust.comprehensiveness);
  EXPECT_GT(trust.random_sufficiency, trust.sufficiency);
  EXPECT_EQ(trust.random_comprehensiveness, random_erasure_scores(*evidence, kBins).comprehensiveness);
  EXPECT_EQ(trust.alignment_error, 0);
  options.gold = parse_alignment("0-0 1-1");
  EXPECT_EQ(measure_trust(*evidence, trace_of("bcade", "aa"), options).alignment_error, 1);
}

// A chooser's evidence is the writer's of one step, from the input that its alignment looks at.
TEST(Faithfulness, ALabelIsExplainedLikeAWord) {
  const KeyChooser chooser;
  const auto label = chooser_evidence(chooser, {.inputs = {read("aaaa"), read("bcade")}, .output = {kKey}}),
             word = evidence_of("bcade", "a");
  EXPECT_EQ(label->steps(), 1);
  EXPECT_EQ(label->places(), 5);
  const Tensor gradients = label->gradients(), expected = word->gradients();
  const Tensor changes = leave_one_out_changes(*label), expected_changes = leave_one_out_changes(*word);
  ASSERT_EQ(gradients.shape(), expected.shape());
  for (Index j = 0; j < 5; ++j) {
    EXPECT_NEAR(gradients.at({0, j}), expected.at({0, j}), 1e-7);
    EXPECT_NEAR(changes.at({0, j}), expected_changes.at({0, j}), 1e-6);
  }
  const Trace trace = trace_of("bcade", "");  // one row
  const TraceTrust of_label = measure_trust(*label, trace), of_word = measure_trust(*word, trace);
  EXPECT_NEAR(of_label.comprehensiveness, of_word.comprehensiveness, 1e-6);
  EXPECT_NEAR(of_label.sufficiency, of_word.sufficiency, 1e-6);
  EXPECT_NEAR(of_label.random_comprehensiveness, of_word.random_comprehensiveness, 1e-6);
  EXPECT_NEAR(of_label.gradient_agreement, of_word.gradient_agreement, 1e-6);
}

// A label whose alignment has several rows is explained by their mean.
TEST(Faithfulness, SeveralRowsOfALabelAreOne) {
  const KeyChooser chooser;
  const auto label = chooser_evidence(chooser, {.inputs = {read("a"), read("bcade")}, .output = {kKey}});
  Trace several = trace_of("bcade", "xyz"), one = trace_of("bcade", "");
  for (Index t = 0; t < 4; ++t) several.alignment.data()[t * 6 + t] += static_cast<Real>(0.1);
  for (Index j = 0; j < 6; ++j) {
    Real sum = 0;
    for (Index t = 0; t < 4; ++t) sum += several.alignment.at({t, j});
    one.alignment.data()[j] = sum / 4;
  }
  const TraceTrust trust = measure_trust(*label, several), expected = measure_trust(*label, one);
  EXPECT_EQ(trust.entropy.size(), 4u);
  EXPECT_EQ(trust.comprehensiveness, expected.comprehensiveness);
  EXPECT_EQ(trust.leave_one_out_agreement, expected.leave_one_out_agreement);
}

RC_GTEST_PROP(Faithfulness, EverythingIsSufficientAndNothingIsNotComprehensive, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 9);
  const auto letters = *rc::gen::container<std::string>(count, rc::gen::element('a', 'b', 'c', 'd', 'e'));
  const auto row = *rc::gen::container<std::vector<int>>(count + 1, rc::gen::inRange(0, 5));
  const Tensor weights = rows_of(std::vector<Real>(row.begin(), row.end()), 3);
  const auto evidence = evidence_of(letters, "ab", true);
  const std::vector<double> all{1}, nothing{0};
  const ErasureScores with_all = erasure_scores(*evidence, weights, all);
  const ErasureScores with_nothing = erasure_scores(*evidence, weights, nothing);
  RC_ASSERT(with_all.sufficiency == 0);
  RC_ASSERT(with_nothing.comprehensiveness == 0);
  RC_ASSERT(with_all.comprehensiveness == with_nothing.sufficiency);  // in both all words are gone
}

TEST(Faithfulness, SaysNothingWhereThereIsNothing) {
  Trace without = trace_of("ab", "a");
  without.alignment = {};
  const auto evidence = evidence_of("ab", "a", true);
  const TraceTrust nothing = measure_trust(*evidence, without);
  EXPECT_TRUE(nothing.entropy.empty());
  EXPECT_TRUE(std::isnan(nothing.gradient_agreement) && std::isnan(nothing.comprehensiveness));
  EXPECT_TRUE(std::isnan(nothing.random_comprehensiveness) && std::isnan(nothing.random_sufficiency));
  const TraceTrust empty = measure_trust(*evidence_of("", "a", true), trace_of("", "a"));
  EXPECT_EQ(empty.entropy, (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(empty.leave_one_out_agreement));
}

TEST(Faithfulness, WeightsThatDoNotFitAreErrors) {
  const auto evidence = evidence_of("ab", "a", true);
  Trace other = trace_of("ab", "a");
  other.alignment = Tensor(Shape{2, 1}, Real{1});
  EXPECT_EQ(message_of([&] { measure_trust(*evidence, other); }),
            "[trust] weights [2, 1] are not those of 2 steps and 2 places");
  other.alignment = Tensor(Shape{3, 3}, Real{1});
  EXPECT_EQ(message_of([&] { measure_trust(*evidence, other); }),
            "[trust] weights [1, 3] are not those of 2 steps and 2 places");
  EXPECT_EQ(message_of([&] {
              erasure_scores(*evidence, Tensor(Shape{1, 3}, Real{1}), kBins);
            }),
            "[erasure] weights [1, 3] do not fit 2 steps and 2 places");
  const std::vector<double> too_much{1.5};
  EXPECT_EQ(message_of([&] {
              erasure_scores(*evidence, Tensor(Shape{2, 3}, Real{1}), too_much);
            }),
            "[erasure] a bin of 1.5 is no share of the input");
  EXPECT_EQ(message_of([&] {
              erasure_scores(*evidence, Tensor(Shape{2, 3}, Real{1}), {});
            }),
            "[erasure] there are no bins");
  EXPECT_EQ(message_of([] { evidence_of("ab", ""); }), "[trust] the output is empty");
}

TEST(KendallTau, IsWhatItsDefinitionSays) {
  const auto tau = [](std::vector<Real> a, std::vector<Real> b) { return kendall_tau(a, b); };
  EXPECT_DOUBLE_EQ(tau({1, 2, 3, 4}, {10, 20, 30, 40}), 1);
  EXPECT_DOUBLE_EQ(tau({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(tau({1, 2, 3}, {1, 3, 2}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(tau({1, 1, 2}, {1, 2, 3}), 2 / std::sqrt(6.0));  // an equal pair in a
  EXPECT_TRUE(std::isnan(tau({1, 1}, {1, 2})));
  EXPECT_TRUE(std::isnan(tau({}, {})));
  EXPECT_EQ(message_of([&] { tau({1}, {}); }), "[kendall] 1 and 0 numbers");
}

RC_GTEST_PROP(KendallTau, WhichOfEqualWeightsMatteredChangesNothing, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(2, 12);
  auto weights = *rc::gen::container<std::vector<int>>(count, rc::gen::inRange(0, 4));
  const auto importance = *rc::gen::container<std::vector<int>>(count, rc::gen::inRange(0, 100));
  const auto i = *rc::gen::inRange<std::size_t>(0, count), j = *rc::gen::inRange<std::size_t>(0, count);
  weights[j] = weights[i];
  const std::vector<Real> a(weights.begin(), weights.end());
  std::vector<Real> before(importance.begin(), importance.end()), after = before;
  std::swap(after[i], after[j]);
  const double one = kendall_tau(a, before), other = kendall_tau(a, after);
  RC_ASSERT(one == other || (std::isnan(one) && std::isnan(other)));
}

TEST(RowEntropies, AreThoseOfDistributions) {
  const std::vector<double> entropies =
      row_entropies(Tensor(Shape{4, 4}, {1, 0, 0, 0, 0.25F, 0.25F, 0.25F, 0.25F, 0.25F, 0.25F, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(entropies[0], 0);
  EXPECT_NEAR(entropies[1], std::log(4), 1e-12);
  EXPECT_NEAR(entropies[2], std::log(2), 1e-12);  // as if its sum were 1
  EXPECT_EQ(entropies[3], 0);
}

TEST(HardWordLinks, SumThePiecesOfWords) {
  Trace trace = pair_trace(
      {"ab c", {{"▁a", 0, 1, 0}, {"b", 1, 2, 0}, {"▁c", 3, 4, 1}, {"</s>", 4, 4, -1}}, {}},
      {"x yz end", {{"▁x", 0, 1, 0}, {"▁y", 2, 3, 1}, {"z", 3, 4, 1}, {"▁end", 5, 8, 2}, {"</s>", 8, 8, -1}}, {}});
  trace.alignment = Tensor(Shape{5, 4}, {0.3F, 0.3F, 0.4F, 0, 0.4F, 0, 0.6F, 0, 0.4F, 0, 0.3F, 0.3F,  //
                                         0,    0,    0,    1, 1,    0, 0,    0});
  const AlignmentLinks links = hard_word_links(trace);
  EXPECT_EQ(links.sure, (std::vector<AlignmentLinks::Link>{{0, 0}, {1, 1}}));  // the third looks at the end alone
  EXPECT_EQ(links.possible, links.sure);
}

// The gates of every system: with all of them 1 nothing changes, and a model with attention hears them.
class EverySystemsGates : public testing::TestWithParam<SystemVariant> {};

TEST_P(EverySystemsGates, OfOneChangeNothingAndOfNoughtDo) {
  const TinyModel tiny(GetParam());
  const Source source = as_read_by(GetParam(), some_sources()), previous = some_previous();
  const Shape shape{source.batch(), previous.longest(), source.longest()};
  ForwardOptions plain, open, closed;
  plain.alignment = open.alignment = true;
  open.gates = Var(Tensor(shape, Real{1}));
  closed.gates = Var(Tensor(shape, Real{0}));
  const TeacherForced forced = tiny.model->forward(source, previous, plain);
  const Tensor expected = forced.words.logits().value().contiguous();
  const Tensor same = tiny.model->forward(source, previous, open).words.logits().value().contiguous();
  const Tensor blind = tiny.model->forward(source, previous, closed).words.logits().value().contiguous();
  double change = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(same.data()[i], expected.data()[i]);
    change = std::max(change, std::abs(static_cast<double>(blind.data()[i]) - static_cast<double>(expected.data()[i])));
  }
  EXPECT_EQ(change > 1e-6, static_cast<bool>(forced.alignment));
}

INSTANTIATE_TEST_SUITE_P(Systems, EverySystemsGates, testing::ValuesIn(every_variant()),
                         [](const auto& at) { return at.param.name(); });

}  // namespace
}  // namespace heed::test
