#include "heed/explain/gold_share.h"

#include <gtest/gtest.h>

namespace heed::test {
namespace {

TraceText text_of(const std::string& text, std::vector<TraceToken> tokens) { return {text, std::move(tokens), {}}; }

// "it's bad ." as it, 's, bad, the full stop and the end.
Trace labelled() {
  Trace trace;
  TraceAxis document{.name = "document", .kind = Kind::document};
  document.text = text_of("it's bad .",
                          {{"it", 0, 2, 0}, {"'s", 2, 4, 1}, {"bad", 5, 8, 2}, {".", 9, 10, 3}, {"</s>", 10, 10, -1}});
  TraceAxis label{.name = "label", .kind = Kind::label};
  label.text = text_of("neg", {{"neg", 0, 3, 0}});
  trace.axes = {document, label};
  trace.rows = "label", trace.columns = "document";
  trace.alignment = Tensor(Shape{1, 5}, {Real{0.1F}, Real{0.2F}, Real{0.4F}, Real{0.2F}, Real{0.1F}});
  return trace;
}

TEST(GoldShare, OfALabelIsTheWeightOfTheWordsThatDecide) {
  const GoldShare bad = gold_share(labelled(), {{{1, 0}}, {}});
  EXPECT_NEAR(bad.share, 0.4, 1e-6);
  EXPECT_NEAR(bad.uniform, 1.0 / 3, 1e-6);
  EXPECT_EQ(bad.hits, 1);
  EXPECT_EQ(bad.rows, 1);
  // A word between white space has the weight of all its tokens.
  EXPECT_NEAR(gold_share(labelled(), {{{0, 0}}, {}}).share, 0.3, 1e-6);
}

TEST(GoldShare, OfWordsIsTheMeanOverThoseWithLinks) {
  Trace trace = pair_trace(text_of("a b", {{"a", 0, 1, 0}, {"b", 2, 3, 1}}),
                           text_of("x y z", {{"x", 0, 1, 0}, {"y", 2, 3, 1}, {"z", 4, 5, 2}}));
  trace.alignment = Tensor(Shape{3, 2}, {Real{0.75F}, Real{0.25F}, Real{0.5F}, Real{0.5F}, Real{0.25F}, Real{0.25F}});
  const GoldShare share = gold_share(trace, {{{0, 0}, {1, 2}}, {}});
  EXPECT_EQ(share.rows, 2);
  EXPECT_NEAR(share.share, (0.75 + 0.5) / 2, 1e-6);
  EXPECT_NEAR(share.uniform, 0.5, 1e-6);
}

// "a dog" over a grid of 2 × 2: the dog is in the lower right quarter and reaches half into the one left of it.
TEST(GoldShare, OfABoxIsTheWeightInsideIt) {
  Trace trace;
  TraceAxis image{.name = "image", .kind = Kind::image, .rows = 2, .columns = 2};
  TraceAxis caption{.name = "caption", .kind = Kind::text};
  caption.text = text_of("a dog", {{"a", 0, 1, 0}, {"dog", 2, 5, 1}, {"</s>", 5, 5, -1}});
  trace.axes = {image, caption};
  trace.rows = "caption", trace.columns = "image";
  trace.alignment = Tensor(Shape{3, 4}, {1, 0, 0, 0, 0, 0.25F, 0.25F, 0.5F, 0, 0, 0, 1});
  const GoldShare dog = box_share(trace, {{1, 0.25, 0.5, 1, 1}});
  EXPECT_EQ(dog.rows, 1);
  EXPECT_NEAR(dog.share, 0.5 + 0.25 / 2, 1e-6);
  EXPECT_NEAR(dog.uniform, 0.375, 1e-6);
  EXPECT_EQ(dog.hits, 1);
  const GoldShare missed = box_share(trace, {{0, 0.5, 0.5, 1, 1}});
  EXPECT_EQ(missed.share, 0);
  EXPECT_EQ(missed.hits, 0);
}

TEST(GoldShare, WithoutAnAlignmentHasNoRows) {
  Trace trace = labelled();
  trace.alignment = {};
  EXPECT_EQ(gold_share(trace, {{{1, 0}}, {}}).rows, 0);
}

}  // namespace
}  // namespace heed::test
