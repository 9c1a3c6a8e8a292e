#include "heed/models/abs.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "models/chooser_cases.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

Tensor summary_logits(const TinyModel& tiny, const Source& source) {
  return tiny.model->forward(source, sentences({{1, 4, 8, 3}})).words.logits().value().contiguous();
}

// Words in another order are the same bag, and nothing else.
TEST(Abs, ABagOfWordsHasNoOrder) {
  const Source source = sentences({{3, 7, 4, 9, 2}}), other = sentences({{9, 4, 3, 7, 2}});
  const TinyModel bag({"abs", {{"encoder", "bow"}}}), conv({"abs", {{"encoder", "conv"}}}), attention({"abs", {}});
  EXPECT_LE(distance(summary_logits(bag, source), summary_logits(bag, other)), 1e-5);
  EXPECT_GT(distance(summary_logits(conv, source), summary_logits(conv, other)), 1e-4);
  EXPECT_GT(distance(summary_logits(attention, source), summary_logits(attention, other)), 1e-4);
}

// P = 0 looks everywhere alike; unless neighbours are averaged, that is the bag of words.
TEST(Abs, AttentionWithoutAMatrixIsTheBag) {
  TinyModel attention({"abs", {{"neighbours", "0"}}}), bag({"abs", {{"encoder", "bow"}}});
  set_to_zero(attention.parameters, "attention.score.weight");
  copy_parameters(attention.parameters, bag.parameters);
  const Source source = sentences({{3, 7, 4, 9, 2}});
  EXPECT_LE(distance(summary_logits(attention, source), summary_logits(bag, source)), 1e-5);
  const Tensor weights =
      attention.model->forward(source, sentences({{1, 4}}), {.alignment = true}).alignment.value().contiguous();
  for (const Real weight : weights.values()) EXPECT_NEAR(weight, 0.2, 1e-6);
}

// Of a text of one word repeated, the mean of neighbours is that word wherever there are enough of them.
TEST(Abs, SmoothingIsTheMeanOfNeighbours) {
  TinyModel smooth({"abs", {{"neighbours", "1"}}}), plain({"abs", {{"neighbours", "0"}}});
  copy_parameters(smooth.parameters, plain.parameters);
  // The place that is looked at stands between two like it: the words around it have no vector.
  Tensor table = smooth.parameters.at("source.table").value(), same = plain.parameters.at("source.table").value();
  const Index width = table.size(1);
  for (Tensor* each : {&table, &same}) {
    std::fill_n(each->data() + 2 * width, width, Real{0});  // the end
    std::fill_n(each->data() + 5 * width, width, Real{0});
  }
  for (TinyModel* each : {&smooth, &plain}) set_to_zero(each->parameters, "attention.score.weight");
  // 0 7 7 7 0 and the end: smoothed, the sum of the vectors stays what it is.
  const Source source = sentences({{5, 7, 7, 7, 5, 2}});
  EXPECT_LE(distance(summary_logits(smooth, source), summary_logits(plain, source)), 1e-5);
}

// Only the last C words count.
TEST(Abs, TheLanguageModelSeesItsContextAlone) {
  const TinyModel tiny({"abs", {{"context", "2"}}});
  const Source source = sentences({{3, 7, 2}});
  const Tensor one = tiny.model->forward(source, sentences({{1, 4, 8, 3}})).words.logits().value().contiguous(),
               two = tiny.model->forward(source, sentences({{1, 9, 8, 3}})).words.logits().value().contiguous();
  const auto last = [](const Tensor& x) { return x.slice(1, 3, 4).contiguous(); };
  const auto before = [](const Tensor& x) { return x.slice(1, 2, 3).contiguous(); };
  EXPECT_EQ(distance(last(one), last(two)), 0);
  EXPECT_GT(distance(before(one), before(two)), 1e-4);
}

TEST(Abs, WrongConfigurationsAreErrors) {
  EXPECT_THROW(TinyModel({"abs", {{"encoder", "boww"}}}), Error);
  EXPECT_THROW(TinyModel({"abs", {{"context", "0"}}}), Error);
}

}  // namespace
}  // namespace heed::test
