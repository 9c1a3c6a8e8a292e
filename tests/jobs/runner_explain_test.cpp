#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/jobs/runner.h"
#include "support/messages.h"
#include "support/tiny_bundle.h"

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

// A model with random weights: over words, or over subwords.
Runner runner_of(const std::string& system, bool subwords = true) {
  const TinyBundle tiny{.system = system, .job = "translation", .subwords = subwords};
  return {std::make_shared<const Bundle>(make_tiny(tiny)), "tiny", 0,
          [](const std::string& line) { ADD_FAILURE() << "warned: " << line; }};
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = a.contiguous(), y = b.contiguous();
  for (Index i = 0; i < x.size(); ++i) ASSERT_NEAR(x.data()[i], y.data()[i], tolerance) << i;
}

bool same_tokens(const Trace& a, const Trace& b) {
  return std::ranges::equal(a.output().text.tokens, b.output().text.tokens,
                            [](const TraceToken& x, const TraceToken& y) { return x.text == y.text; });
}

TEST(RunnerExplain, EverySystemTellsOfItsOutputWhatReadingItTells) {
  Index compared = 0;
  for (const System* system : systems_of(job_named("translation")))
    for (const bool subwords : {true, false}) {
      Runner model = runner_of(system->name, subwords);
      ExplainOptions options;
      options.attentions = options.beam = true;
      options.run.search.options.beam = 3;
      std::vector<Sample> samples = samples_of(kSources);
      const std::vector<Trace> traces = model.explain(samples, options);
      ASSERT_EQ(traces.size(), kSources.size());
      for (std::size_t i = 0; i < traces.size(); ++i) samples[i].outputs = {traces[i].output().text.text};
      const std::vector<Trace> read = model.explain(samples, options);
      for (std::size_t i = 0; i < traces.size(); ++i) {
        SCOPED_TRACE(system->name + ": " + kSources[i]);
        const Trace& trace = traces[i];
        EXPECT_EQ(trace.model, "tiny");
        EXPECT_EQ(trace.system, system->name);
        EXPECT_EQ(trace.job, "translation");
        ASSERT_EQ(trace.axes.size(), 2u);
        EXPECT_EQ(trace.axes[0].name, "source");
        EXPECT_EQ(trace.axes[1].name, "target");
        EXPECT_EQ(trace.axis("source").text.text, kSources[i]);
        const Index n = trace.axis("target").size(), m = trace.axis("source").size();
        EXPECT_EQ(static_cast<Index>(trace.log_probabilities.size()), n);
        EXPECT_TRUE(trace.choices.empty());
        EXPECT_EQ(static_cast<bool>(trace.alignment), !trace.attentions.empty());
        EXPECT_EQ(trace.rows, trace.alignment ? "target" : "");
        EXPECT_EQ(trace.columns, trace.alignment ? "source" : "");
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

TEST(RunnerExplain, NamesEveryAttentionThatATraceHas) {
  for (const System* system : systems_of(job_named("translation"))) {
    Runner model = runner_of(system->name);
    const Trace trace = model.explain(samples_of({kSources[0]}), {.attentions = true}).front();
    const std::vector<TraceAttention> named = model.attentions();
    ASSERT_EQ(named.size(), trace.attentions.size()) << system->name;
    for (std::size_t k = 0; k < named.size(); ++k) {
      EXPECT_EQ(named[k].name, trace.attentions[k].name);
      EXPECT_EQ(named[k].layer, trace.attentions[k].layer);
      EXPECT_EQ(named[k].rows, trace.attentions[k].rows);
      EXPECT_EQ(named[k].columns, trace.attentions[k].columns);
      EXPECT_EQ(named[k].weights.size(0), trace.attentions[k].weights.size(0));
    }
  }
}

TEST(RunnerExplain, AxesAreNamedByTheJob) {
  const TinyBundle tiny{.system = "transformer", .job = "summarisation"};
  Runner model(std::make_shared<const Bundle>(make_tiny(tiny)), "short", 1, [](const std::string&) {});
  const Trace trace = model.explain(samples_of({kSources[0]}), {.attentions = true}).front();
  EXPECT_EQ(trace.job, "summarisation");
  EXPECT_EQ(trace.axes[0].name, "text");
  EXPECT_EQ(trace.axes[1].name, "summary");
  EXPECT_EQ(trace.rows, "summary");
  EXPECT_EQ(trace.columns, "text");
  for (const TraceAttention& each : trace.attentions) {
    EXPECT_EQ(each.rows, each.name.starts_with("encoder") ? "text" : "summary") << each.name;
    EXPECT_EQ(each.columns, each.name.starts_with("decoder") && each.name.ends_with("self") ? "summary" : "text");
  }
}

TEST(RunnerExplain, TokensAndWordsStandWhereTheyAreInTheText) {
  for (const bool subwords : {true, false}) {
    const Runner model = runner_of("rnnsearch", subwords);
    const TraceAxis axis = model.read_input(0, {.text = "  größe of\t猫  cats "});
    EXPECT_EQ(axis.name, "source");
    EXPECT_EQ(axis.kind, Kind::text);
    const TraceText& text = axis.text;
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

TEST(RunnerExplain, TheAlignmentOfATransformerIsTheMeanOfOneOfItsLayers) {
  Runner model = runner_of("transformer");
  const Trace trace = model.explain(samples_of({kSources[0]}), {.attentions = true}).front();
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

TEST(RunnerExplain, ADecoderLooksOnlyAtItsOwnWordsBefore) {
  Runner model = runner_of("transformer");
  const std::vector<Sample> sample{sample_of({"the cat"}, {"the old house of cats"})};
  const Trace trace = model.explain(sample, {.attentions = true}).front();
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

TEST(RunnerExplain, TokensAreToldAsTheyCome) {
  Runner model = runner_of("luong");
  const std::vector<Sample> samples = samples_of(kSources);
  std::vector<std::vector<WrittenToken>> told(kSources.size());
  std::vector<std::vector<std::vector<Real>>> weights(kSources.size());
  ExplainOptions options;
  options.run.search.method = SearchMethod::greedy;
  const std::vector<Trace> quiet = model.explain(samples, options);
  options.run.on_token = [&](const WrittenToken& token) {
    const auto sample = static_cast<std::size_t>(token.sample);
    EXPECT_EQ(token.step, static_cast<Index>(told[sample].size()));
    told[sample].push_back(token);
    weights[sample].emplace_back(token.weights.begin(), token.weights.end());
  };
  const std::vector<Trace> traces = model.explain(samples, options);
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    const TraceText& target = traces[i].output().text;
    EXPECT_EQ(target.text, quiet[i].output().text.text);
    ASSERT_EQ(told[i].size(), target.tokens.size());
    EXPECT_EQ(told[i].back().text, target.text);
    for (std::size_t t = 0; t < told[i].size(); ++t) {
      EXPECT_EQ(told[i][t].token.text, target.tokens[t].text);
      EXPECT_EQ(told[i][t].token.word, target.tokens[t].word);
      EXPECT_NEAR(told[i][t].log_probability, traces[i].log_probabilities[t], 1e-9);
      ASSERT_EQ(static_cast<Index>(weights[i][t].size()), traces[i].axis("source").size());
      for (std::size_t s = 0; s < weights[i][t].size(); ++s)
        EXPECT_EQ(weights[i][t][s], traces[i].alignment.at({static_cast<Index>(t), static_cast<Index>(s)}));
    }
  }
}

TEST(RunnerExplain, TheChosenHypothesesOfTheBeamAreTheOutput) {
  for (const SearchMethod method : {SearchMethod::beam, SearchMethod::greedy}) {
    Runner model = runner_of("convs2s");
    ExplainOptions options;
    options.beam = true;
    options.run.search.method = method;
    for (const Trace& trace : model.explain(samples_of(kSources), options)) {
      const std::vector<TraceToken>& tokens = trace.output().text.tokens;
      ASSERT_GE(trace.beam.size(), tokens.size());
      double before = 0;
      for (std::size_t t = 0; t < trace.beam.size(); ++t) {
        Index chosen = 0;
        for (const TraceHypothesis& each : trace.beam[t]) {
          if (!each.chosen) continue;
          ++chosen;
          EXPECT_EQ(each.token, tokens[t].text);
          EXPECT_NEAR(each.log_probability - before, trace.log_probabilities[t], 1e-9);
          before = each.log_probability;
        }
        EXPECT_EQ(chosen, t < tokens.size() ? 1 : 0);
      }
    }
  }
}

TEST(RunnerExplain, ASampleIsExplainedAloneAsAmongOthers) {
  Runner model = runner_of("transformer");
  const std::vector<Sample> samples = samples_of(kSources);
  const std::vector<Trace> together = model.explain(samples, {.attentions = true});
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Trace alone = model.explain(std::span(samples).subspan(i, 1), {.attentions = true}).front();
    EXPECT_EQ(alone.output().text.text, together[i].output().text.text);
    expect_near(alone.alignment, together[i].alignment, 1e-5);
    ASSERT_EQ(alone.attentions.size(), together[i].attentions.size());
    for (std::size_t k = 0; k < alone.attentions.size(); ++k)
      expect_near(alone.attentions[k].weights, together[i].attentions[k].weights, 1e-5);
  }
}

TEST(RunnerExplain, AnEmptyTextHasAnEmptyOutput) {
  Runner model = runner_of("rnnsearch");
  const std::vector<std::string> sources{"", "the cat", "  "};
  const std::vector<Trace> traces = model.explain(samples_of(sources));
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_EQ(traces[i].axis("source").text.text, sources[i]);
    EXPECT_EQ(traces[i].output().text.text, "");
    EXPECT_EQ(traces[i].alignment.shape(), (Shape{1, 1}));
    EXPECT_EQ(traces[i].log_probabilities.size(), 1u);
  }
  EXPECT_EQ(traces[1].axis("source").text.tokens.back().text, "</s>");
  EXPECT_TRUE(model.explain({}).empty());
}

// Samples with outputs and without in one call: each is treated as if it were alone.
TEST(RunnerExplain, GivenOutputsMayStandBesideOthers) {
  Runner model = runner_of("transformer");
  const std::vector<Sample> samples{sample_of({kSources[0]}), sample_of({kSources[1]}, {"the house"}),
                                    sample_of({kSources[3]})};
  const std::vector<Trace> traces = model.explain(samples, {.attentions = true});
  EXPECT_EQ(traces[1].output().text.text, "the house");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Trace alone = model.explain(std::span(samples).subspan(i, 1), {.attentions = true}).front();
    EXPECT_EQ(traces[i].axes[0].text.text, samples[i].inputs.front().text);
    EXPECT_EQ(traces[i].output().text.text, alone.output().text.text);
    ASSERT_EQ(traces[i].attentions.size(), alone.attentions.size());
    expect_near(traces[i].alignment, alone.alignment, 1e-5);
  }
}

TEST(RunnerExplain, TrustIsMeasuredWhereItIsAskedFor) {
  Runner model = runner_of("rnnsearch");
  const std::vector<Sample> samples{sample_of({kSources[0]}), sample_of({kSources[3]}, {"the house"})};
  for (const Trace& trace : model.explain(samples)) EXPECT_TRUE(trace.trust.empty());
  ExplainOptions options;
  options.trust = true;
  for (const Trace& trace : model.explain(samples, options)) {
    ASSERT_EQ(trace.trust.size(), 1u);
    const TraceTrust& trust = trace.trust.front();
    EXPECT_EQ(trust.entropy.size(), trace.output().text.tokens.size());
    for (const double number : {trust.gradient_agreement, trust.leave_one_out_agreement, trust.comprehensiveness,
                                trust.sufficiency, trust.random_comprehensiveness, trust.random_sufficiency})
      EXPECT_TRUE(std::isfinite(number));
    EXPECT_TRUE(std::isnan(trust.alignment_error));
  }
  options.longest_trusted = 2;
  EXPECT_EQ(message_of([&] { model.explain(samples, options); }).find("[trust] source has "), 0u);
}

TEST(RunnerExplain, OfATextThatIsCutTheTraceHasWhatWasRead) {
  std::vector<std::string> warned;
  Runner model(std::make_shared<const Bundle>(make_tiny({.system = "rnnsearch", .job = "translation"})), "tiny", 1,
               [&](const std::string& line) { warned.push_back(line); });
  ExplainOptions options;
  options.run.limits = {.longest = 4, .too_long = TooLong::cut};
  const Trace trace =
      model.explain(std::vector<Sample>{sample_of({"the cat the cat the cat"}, {"a"})}, options).front();
  EXPECT_EQ(trace.axes.front().text.text, "the cat the cat the cat");
  EXPECT_EQ(trace.axes.front().size(), 5);  // with the end
  EXPECT_EQ(trace.alignment.size(1), 5);
  EXPECT_EQ(warned.size(), 1u);
}

TEST(RunnerExplain, WhatCannotBeExplainedIsAnError) {
  Runner model = runner_of("rnnsearch");
  const auto message = [&](const Sample& sample, const ExplainOptions& options) {
    return message_of([&] { model.explain(std::vector<Sample>{sample}, options); });
  };
  EXPECT_EQ(message(sample_of({"ab\xff"}), {}), "[translate] the text is not valid UTF-8 at byte 2");
  EXPECT_EQ(message(sample_of({"ab"}, {"c\xff"}), {}), "[translate] the text is not valid UTF-8 at byte 1");
  EXPECT_EQ(message(sample_of({"a", "b"}), {}), "[translate] 2 inputs, but it reads 1");
  ExplainOptions options;
  options.run.limits.longest = 4;
  EXPECT_EQ(message(sample_of({"the cat the cat the cat"}), options).find("[translate] the input has "), 0u);
  EXPECT_EQ(message(sample_of({"a"}, {"the cat the cat the cat"}), options).find("[translate] the input has "), 0u);
  options = {};
  options.run.on_token = [](const WrittenToken&) {};
  EXPECT_EQ(message(sample_of({"a"}), options), "[explain] tokens are told as they come by greedy search only");
  options = {};
  options.run.prefixes = {"a", "b"};
  EXPECT_EQ(message(sample_of({"a"}), options), "[explain] 2 prefixes for 1 inputs");
  EXPECT_EQ(message_of([] { Runner(std::vector<std::filesystem::path>{}, 1, [](const std::string&) {}); }),
            "[run] there is no model");
}

}  // namespace
}  // namespace heed::test
