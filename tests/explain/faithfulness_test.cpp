#include "heed/jobs/faithfulness.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/data/words.h"
#include "models/translation_cases.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

constexpr std::int32_t kKey = 3;  // the first word of the vocabularies below
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

class FaithfulnessTest : public testing::Test {
 protected:
  FaithfulnessTest() {
    std::ofstream(folder_.path() / "words") << "a b c d e a b c d a b c a b a\n";
    bundle_.source = bundle_.target = train_words({(folder_.path() / "words").string()}, {});
    bundle_.model = std::make_unique<KeyModel>();
  }

  // Of sources and targets of single letters, with the given rows of weights, or the model's own.
  Trace trace(const std::string& source, const std::string& target, std::vector<Real> row = {}) const {
    Trace result;
    const auto read = [](const std::string& letters) {
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
    result.source = read(source), result.target = read(target);
    if (row.empty()) row = KeyModel::weights_of(token_ids(bundle_, result).source);
    const auto n = static_cast<Index>(result.target.tokens.size()), m = static_cast<Index>(row.size());
    result.alignment = Tensor(Shape{n, m});
    for (Index t = 0; t < n; ++t) std::copy(row.begin(), row.end(), result.alignment.data() + t * m);
    return result;
  }
  // The source and nothing but kKey, once, as the target.
  TokenPair key_pair(const std::string& source) const {
    TokenPair pair = token_ids(bundle_, trace(source, "a"));
    pair.target.pop_back();
    return pair;
  }

  TemporaryFolder folder_;
  TranslationBundle bundle_;
};

TEST_F(FaithfulnessTest, TheModelsOwnWeightsAreFaithful) {
  ASSERT_EQ(bundle_.source->piece(kKey), "a");
  ASSERT_EQ(bundle_.source->size(), kWords);
  const TokenPair pair = key_pair("bcade");
  const Tensor gradients = attention_gradients(*bundle_.model, pair);
  const Tensor changes = leave_one_out_changes(*bundle_.model, pair);
  ASSERT_EQ(gradients.shape(), (Shape{1, 5}));
  ASSERT_EQ(changes.shape(), (Shape{1, 5}));
  for (const Index j : {0, 1, 3, 4}) {
    EXPECT_EQ(gradients.at({0, j}), 0) << j;  // nothing else is written from
    EXPECT_LT(changes.at({0, j}), 1e-3) << j;
  }
  EXPECT_NEAR(changes.at({0, 2}), std::log(kWords), 5e-3);  // what is left is a guess among all words
  const std::vector<double> bins = TrustOptions().bins;
  const ErasureScores scores = erasure_scores(*bundle_.model, pair, trace("bcade", "a").alignment.slice(0, 0, 1), bins);
  EXPECT_NEAR(scores.comprehensiveness, 1 - 1.0 / kWords, 5e-3);
  EXPECT_NEAR(scores.sufficiency, 0, 1e-3);
}

TEST_F(FaithfulnessTest, WeightsOnOtherWordsAreNot) {
  const TokenPair pair = key_pair("bcade");
  const Tensor elsewhere(Shape{1, 6}, {0.3F, 0.25F, 0.01F, 0.2F, 0.15F, 0.09F});
  const ErasureScores scores = erasure_scores(*bundle_.model, pair, elsewhere, TrustOptions().bins);
  EXPECT_NEAR(scores.comprehensiveness, 0, 1e-3);
  EXPECT_NEAR(scores.sufficiency, 1 - 1.0 / kWords, 5e-3);
}

// α ∂ ln p / ∂α by hand: with z = 8 α on one of V logits, p = e^z / (e^z + V - 1), so it is z (1 - p).
TEST_F(FaithfulnessTest, TheGradientIsThatOfTheEquation) {
  const TokenPair pair = key_pair("cbaab");
  const std::vector<Real> row = KeyModel::weights_of(pair.source);
  double z = 0;
  for (std::size_t j = 0; j < row.size(); ++j) z += pair.source[j] == kKey ? 8 * static_cast<double>(row[j]) : 0;
  const double p = std::exp(z) / (std::exp(z) + kWords - 1);
  const Tensor gradients = attention_gradients(*bundle_.model, pair);
  for (const Index j : {2, 3})
    EXPECT_NEAR(static_cast<double>(gradients.at({0, j})), 8 * static_cast<double>(row[2]) * (1 - p), 1e-6);
  EXPECT_GT(gradients.at({0, 2}), 0);
}

TEST_F(FaithfulnessTest, MeasuresATraceWhole) {
  TrustOptions options;
  options.gold = parse_alignment("2-0 2-1");
  const TraceTrust trust = measure_trust(bundle_, trace("bcade", "aa"), options);
  EXPECT_EQ(trust.entropy.size(), 3U);
  EXPECT_GT(trust.entropy[0], 0);
  EXPECT_LT(trust.entropy[0], 0.2);
  // One word stands out in both, the others are equal in one of the two: of 10 pairs 4 count, in the weights all 10.
  EXPECT_NEAR(trust.gradient_agreement, 4 / std::sqrt(40.0), 1e-6);
  EXPECT_GT(trust.leave_one_out_agreement, 0.5);
  EXPECT_GT(trust.comprehensiveness, 0.5);  // less than for "aa" alone: the end it guesses
  EXPECT_EQ(trust.alignment_error, 0);
  options.gold = parse_alignment("0-0 1-1");
  EXPECT_EQ(measure_trust(bundle_, trace("bcade", "aa"), options).alignment_error, 1);
}

RC_GTEST_FIXTURE_PROP(FaithfulnessTest, EverythingIsSufficientAndNothingIsNotComprehensive, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 9);
  const auto letters = *rc::gen::container<std::string>(count, rc::gen::element('a', 'b', 'c', 'd', 'e'));
  const auto row = *rc::gen::container<std::vector<int>>(count + 1, rc::gen::inRange(0, 5));
  const Trace given = trace(letters, "ab", std::vector<Real>(row.begin(), row.end()));
  const TokenPair pair = token_ids(bundle_, given);
  const std::vector<double> all{1}, nothing{0};
  const ErasureScores with_all = erasure_scores(*bundle_.model, pair, given.alignment, all);
  const ErasureScores with_nothing = erasure_scores(*bundle_.model, pair, given.alignment, nothing);
  RC_ASSERT(with_all.sufficiency == 0);
  RC_ASSERT(with_nothing.comprehensiveness == 0);
  RC_ASSERT(with_all.comprehensiveness == with_nothing.sufficiency);  // in both all words are gone
}

TEST_F(FaithfulnessTest, SaysNothingWhereThereIsNothing) {
  Trace without = trace("ab", "a");
  without.alignment = {};
  const TraceTrust nothing = measure_trust(bundle_, without);
  EXPECT_TRUE(nothing.entropy.empty());
  EXPECT_TRUE(std::isnan(nothing.gradient_agreement) && std::isnan(nothing.comprehensiveness));
  const TraceTrust empty = measure_trust(bundle_, trace("", "a"));
  EXPECT_EQ(empty.entropy, (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(empty.leave_one_out_agreement));

  Trace foreign = trace("ab", "a");
  foreign.source.tokens[0].text = "zebra";
  EXPECT_NE(message_of([&] { measure_trust(bundle_, foreign); }).find("source vocabulary has no token zebra"),
            std::string::npos);
  foreign.alignment = Tensor(Shape{1, 1}, Real{1});
  EXPECT_EQ(message_of([&] { measure_trust(bundle_, foreign); }),
            "[trust] an alignment [1, 1] of 2 target and 3 source tokens");
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
  Trace trace;
  trace.source.tokens = {{"▁a", 0, 1, 0}, {"b", 1, 2, 0}, {"▁c", 3, 4, 1}, {"</s>", 4, 4, -1}};
  trace.target.tokens = {{"▁x", 0, 1, 0}, {"▁y", 2, 3, 1}, {"z", 3, 4, 1}, {"▁end", 5, 8, 2}, {"</s>", 8, 8, -1}};
  trace.alignment = Tensor(Shape{5, 4}, {0.3F, 0.3F, 0.4F, 0, 0.4F, 0, 0.6F, 0, 0.4F, 0, 0.3F, 0.3F,  //
                                         0,    0,    0,    1, 1,    0, 0,    0});
  const AlignmentLinks links = hard_word_links(trace);
  EXPECT_EQ(links.sure, (std::vector<AlignmentLinks::Link>{{0, 0}, {1, 1}}));  // the third looks at the end alone
  EXPECT_EQ(links.possible, links.sure);
}

// The gates of every system: with all of them 1 nothing changes, and a model with attention hears them.
class EverySystemsGates : public testing::TestWithParam<TranslationVariant> {};

TEST_P(EverySystemsGates, OfOneChangeNothingAndOfNoughtDo) {
  const TinyModel tiny(GetParam());
  const Source source = some_sources(), previous = some_previous();
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
