#include "heed/jobs/explain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "attention/composition_cases.h"
#include "heed/base/file.h"
#include "heed/data/subwords.h"
#include "heed/data/words.h"
#include "models/translation_cases.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

const std::vector<std::string> kSources{"the  cat sleeps", "größe of 猫 cats", "cat", "the river the house the bank"};

// The characters from `begin` up to `end`.
std::string characters(const std::string& text, Index begin, Index end) {
  std::string result;
  Index at = -1;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80) ++at;
    if (at >= begin && at < end) result += c;
  }
  return result;
}

class ExplainerTest : public testing::Test {
 protected:
  // A model with random weights: over words, or over subwords.
  Explainer explainer(const std::string& system, bool subwords = true, std::uint64_t seed = 5) const {
    const std::string text = (folder_.path() / "text").string();
    write_file(text,
               "the cat sleeps near the old house\nwe walk to the house of cats\nthe größe of 猫 and the river bank\n");
    const auto vocabulary = subwords ? train_subwords({text}, {.size = 50}) : train_words({text}, {});
    TranslationBundle bundle = make_translation(system, tiny_config({system, {}}, 8), vocabulary, vocabulary, seed);
    randomise(*bundle.parameters, seed, 0.4);
    return {std::make_shared<const TranslationBundle>(std::move(bundle)), "tiny"};
  }
  TemporaryFolder folder_;
};

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = a.contiguous(), y = b.contiguous();
  for (Index i = 0; i < x.size(); ++i) ASSERT_NEAR(x.data()[i], y.data()[i], tolerance) << i;
}

bool same_tokens(const Trace& a, const Trace& b) {
  return std::ranges::equal(a.axis("target").text.tokens, b.axis("target").text.tokens,
                            [](const TraceToken& x, const TraceToken& y) { return x.text == y.text; });
}

TEST_F(ExplainerTest, EverySystemTellsOfItsTranslationWhatReadingItTells) {
  Index compared = 0;
  for (const System& system : systems())
    for (const bool subwords : {true, false}) {
      const Explainer model = explainer(system.name, subwords);
      ExplainOptions options{.attentions = true, .beam = true};
      options.search.options.beam = 3;
      const std::vector<Trace> traces = model.explain(kSources, options);
      ASSERT_EQ(traces.size(), kSources.size());
      std::vector<std::string> targets;
      for (const Trace& trace : traces) targets.push_back(trace.axis("target").text.text);
      const std::vector<Trace> read = model.explain_given(kSources, targets, options);
      for (std::size_t i = 0; i < traces.size(); ++i) {
        SCOPED_TRACE(system.name + ": " + kSources[i]);
        const Trace& trace = traces[i];
        EXPECT_EQ(trace.model, "tiny");
        EXPECT_EQ(trace.system, system.name);
        EXPECT_EQ(trace.axis("source").text.text, kSources[i]);
        const auto n = static_cast<Index>(trace.axis("target").text.tokens.size()),
                   m = static_cast<Index>(trace.axis("source").text.tokens.size());
        EXPECT_EQ(trace.log_probabilities.size(), trace.axis("target").text.tokens.size());
        EXPECT_EQ(static_cast<bool>(trace.alignment), !trace.attentions.empty());
        if (trace.alignment) {
          EXPECT_EQ(trace.alignment.shape(), (Shape{n, m}));
        }
        for (const TraceAttention& each : trace.attentions) {
          EXPECT_EQ(each.weights.size(1), each.rows == "source" ? m : n) << each.name;
          EXPECT_EQ(each.weights.size(2), each.columns == "source" ? m : n) << each.name;
        }
        if (!same_tokens(trace, read[i])) continue;  // another way to cut the same text
        ++compared;
        for (std::size_t t = 0; t < trace.log_probabilities.size(); ++t)
          EXPECT_NEAR(trace.log_probabilities[t], read[i].log_probabilities[t], 2e-4);
        if (trace.alignment) expect_near(trace.alignment, read[i].alignment, 1e-4);
        ASSERT_EQ(trace.attentions.size(), read[i].attentions.size());
        for (std::size_t k = 0; k < trace.attentions.size(); ++k)
          expect_near(trace.attentions[k].weights, read[i].attentions[k].weights, 1e-5);
      }
    }
  EXPECT_GT(compared, 20);
}

TEST_F(ExplainerTest, TokensAndWordsStandWhereTheyAreInTheText) {
  for (const bool subwords : {true, false}) {
    const Explainer model = explainer("rnnsearch", subwords);
    const TraceText text = model.read_source("  größe of\t猫  cats ");
    std::vector<std::string> words;
    for (const TraceWord& word : text.words) {
      words.push_back(word.text);
      EXPECT_EQ(characters(text.text, word.begin, word.end), word.text);
    }
    EXPECT_EQ(words, (std::vector<std::string>{"größe", "of", "猫", "cats"}));
    std::string pieces;
    for (const TraceToken& token : text.tokens) {
      pieces += characters(text.text, token.begin, token.end);
      if (token.word >= 0) {
        const TraceWord& word = text.words.at(static_cast<std::size_t>(token.word));
        EXPECT_LE(word.begin, token.begin);
        EXPECT_GE(word.end, token.end);
      }
    }
    EXPECT_EQ(pieces, "größeof猫cats");
    EXPECT_EQ(text.tokens.back().text, "</s>");
    EXPECT_EQ(text.tokens.back().begin, 19);
    EXPECT_EQ(text.tokens.back().end, 19);
    EXPECT_EQ(text.tokens.back().word, -1);
  }
}

TEST_F(ExplainerTest, TheAlignmentOfATransformerIsTheMeanOfOneOfItsLayers) {
  const Explainer model = explainer("transformer");
  const Trace trace = model.explain(std::vector<std::string>{kSources[0]}, {.attentions = true}).front();
  std::vector<std::string> names;
  for (const TraceAttention& each : trace.attentions) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"encoder.layer1.self", "encoder.layer2.self", "decoder.layer1.self",
                                             "decoder.layer1.source", "decoder.layer2.self", "decoder.layer2.source"}));
  EXPECT_EQ(trace.attentions[1].layer, 2);
  EXPECT_EQ(trace.attentions[1].rows, "source");
  EXPECT_EQ(trace.attentions[1].columns, "source");
  EXPECT_EQ(trace.attentions[4].columns, "target");
  const Tensor& heads = trace.attentions[3].weights;  // two layers: the one below the top
  ASSERT_EQ(heads.size(0), 2);
  for (Index t = 0; t < heads.size(1); ++t)
    for (Index s = 0; s < heads.size(2); ++s)
      EXPECT_NEAR((heads.at({0, t, s}) + heads.at({1, t, s})) / 2, trace.alignment.at({t, s}), 1e-5);
}

TEST_F(ExplainerTest, ADecoderLooksOnlyAtItsOwnWordsBefore) {
  const Explainer model = explainer("transformer");
  const std::vector<std::string> source{"the cat"}, target{"the old house of cats"};
  const Trace trace = model.explain_given(source, target, {.attentions = true}).front();
  for (const TraceAttention& each : trace.attentions) {
    const Index heads = each.weights.size(0), rows = each.weights.size(1), columns = each.weights.size(2);
    const bool decoder_self = each.name.starts_with("decoder") && each.name.ends_with("self");
    for (Index head = 0; head < heads; ++head)
      for (Index t = 0; t < rows; ++t) {
        double sum = 0;
        for (Index s = 0; s < columns; ++s) {
          if (decoder_self && s >= t) {
            EXPECT_EQ(each.weights.at({head, t, s}), 0);
          }
          sum += static_cast<double>(each.weights.at({head, t, s}));
        }
        if (!decoder_self) {
          EXPECT_NEAR(sum, 1, 1e-5) << each.name;
        } else if (t > 0) {
          EXPECT_GT(sum, 0);
          EXPECT_LE(sum, 1 + 1e-5);
          if (t <= 2) {  // the begin has the rest, while it is among the neighbours
            EXPECT_LT(sum, 1);
          }
        }
      }
  }
}

TEST_F(ExplainerTest, TokensAreToldAsTheyCome) {
  const Explainer model = explainer("luong");
  std::vector<std::vector<ExplainedToken>> told(kSources.size());
  std::vector<std::vector<std::vector<Real>>> weights(kSources.size());
  ExplainOptions options;
  options.search.method = SearchMethod::greedy;
  const std::vector<Trace> quiet = model.explain(kSources, options);
  options.on_token = [&](const ExplainedToken& token) {
    const auto sentence = static_cast<std::size_t>(token.sentence);
    EXPECT_EQ(token.step, static_cast<Index>(told[sentence].size()));
    told[sentence].push_back(token);
    weights[sentence].emplace_back(token.weights.begin(), token.weights.end());
  };
  const std::vector<Trace> traces = model.explain(kSources, options);
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    EXPECT_EQ(traces[i].axis("target").text.text, quiet[i].axis("target").text.text);
    ASSERT_EQ(told[i].size(), traces[i].axis("target").text.tokens.size());
    EXPECT_EQ(told[i].back().text, traces[i].axis("target").text.text);
    for (std::size_t t = 0; t < told[i].size(); ++t) {
      EXPECT_EQ(told[i][t].token.text, traces[i].axis("target").text.tokens[t].text);
      EXPECT_EQ(told[i][t].token.word, traces[i].axis("target").text.tokens[t].word);
      EXPECT_NEAR(told[i][t].log_probability, traces[i].log_probabilities[t], 1e-9);
      ASSERT_EQ(weights[i][t].size(), traces[i].axis("source").text.tokens.size());
      for (std::size_t s = 0; s < weights[i][t].size(); ++s)
        EXPECT_EQ(weights[i][t][s], traces[i].alignment.at({static_cast<Index>(t), static_cast<Index>(s)}));
    }
  }
}

TEST_F(ExplainerTest, TheChosenHypothesesOfTheBeamAreTheTranslation) {
  for (const SearchMethod method : {SearchMethod::beam, SearchMethod::greedy}) {
    const Explainer model = explainer("convs2s");
    ExplainOptions options{.beam = true};
    options.search.method = method;
    for (const Trace& trace : model.explain(kSources, options)) {
      ASSERT_GE(trace.beam.size(), trace.axis("target").text.tokens.size());
      double before = 0;
      for (std::size_t t = 0; t < trace.beam.size(); ++t) {
        Index chosen = 0;
        for (const TraceHypothesis& each : trace.beam[t]) {
          if (!each.chosen) continue;
          ++chosen;
          EXPECT_EQ(each.token, trace.axis("target").text.tokens[t].text);
          EXPECT_NEAR(each.log_probability - before, trace.log_probabilities[t], 1e-9);
          before = each.log_probability;
        }
        EXPECT_EQ(chosen, t < trace.axis("target").text.tokens.size() ? 1 : 0);
      }
    }
  }
}

TEST_F(ExplainerTest, ASentenceIsExplainedAloneAsAmongOthers) {
  const Explainer model = explainer("transformer");
  const std::vector<Trace> together = model.explain(kSources, {.attentions = true});
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    const Trace alone = model.explain(std::span(kSources).subspan(i, 1), {.attentions = true}).front();
    EXPECT_EQ(alone.axis("target").text.text, together[i].axis("target").text.text);
    expect_near(alone.alignment, together[i].alignment, 1e-5);
    ASSERT_EQ(alone.attentions.size(), together[i].attentions.size());
    for (std::size_t k = 0; k < alone.attentions.size(); ++k)
      expect_near(alone.attentions[k].weights, together[i].attentions[k].weights, 1e-5);
  }
}

TEST_F(ExplainerTest, AnEmptyTextHasAnEmptyTranslation) {
  const Explainer model = explainer("rnnsearch");
  const std::vector<std::string> sources{"", "the cat", "  "};
  const std::vector<Trace> traces = model.explain(sources);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_EQ(traces[i].axis("source").text.text, sources[i]);
    EXPECT_EQ(traces[i].axis("target").text.text, "");
    EXPECT_EQ(traces[i].alignment.shape(), (Shape{1, 1}));
    EXPECT_EQ(traces[i].log_probabilities.size(), 1u);
  }
  EXPECT_EQ(traces[1].axis("source").text.tokens.back().text, "</s>");
  EXPECT_TRUE(model.explain({}).empty());
}

TEST_F(ExplainerTest, WhatCannotBeExplainedIsAnError) {
  const Explainer model = explainer("rnnsearch");
  const auto message = [&](const std::string& text, const ExplainOptions& options) {
    return message_of([&] { model.explain(std::vector<std::string>{text}, options); });
  };
  EXPECT_EQ(message("ab\xff", {}), "[explain] the text is not valid UTF-8 at byte 2");
  EXPECT_EQ(message("the cat the cat the cat", {.longest = 4}).find("[explain] the text has "), 0u);
  EXPECT_EQ(message("a", {.on_token = [](const ExplainedToken&) {}}),
            "[explain] tokens are told as they come by greedy search only");
  EXPECT_EQ(message_of([&] { model.explain_given(kSources, {}, {}); }), "[explain] 0 targets for 4 sources");
  EXPECT_EQ(message_of([] { Explainer(nullptr, "none"); }), "[explain] there is no model none");
}

}  // namespace
}  // namespace heed::test
