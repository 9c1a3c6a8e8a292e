#include "heed/models/reader.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/autograd/ops/softmax.h"
#include "models/chooser_cases.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

ChooserVariant reader(const std::string& name, std::map<std::string, std::string> settings = {}) {
  return {{name, std::move(settings)}, 2, true};
}
double sum_of_row(const Tensor& x, Index row, Index width) {
  double sum = 0;
  for (Index i = 0; i < width; ++i) sum += static_cast<double>(x.data()[row * width + i]);
  return sum;
}

TEST(Readers, WeightsOfEqualWordsAreSummed) {
  for (const char* name : {"as-reader", "aoa"}) {
    const TinyChooser tiny(reader(name));
    const std::vector<Source> texts = some_texts(reader(name));
    const Chosen chosen = tiny.chooser->forward(texts, {.alignment = true});
    const Tensor s = chosen.alignment.value().contiguous(), p = softmax(chosen.scores).value().contiguous();
    for (Index b = 0; b < 3; ++b) {
      EXPECT_NEAR(sum_of_row(s, b, 7), 1, 1e-5);
      for (Index c = 0; c < 5; ++c) {
        double expected = 0;
        for (Index i = 0; i < 7; ++i)
          if (texts[0].marks.data()[b * 7 + i] == c) expected += static_cast<double>(s.data()[b * 7 + i]);
        EXPECT_NEAR(static_cast<double>(p.data()[b * 5 + c]), expected, 1e-5) << name << " " << b << " " << c;
      }
    }
  }
}

// A question of one word has nothing to weigh: attention over attention is the attention sum, if both encode alike.
TEST(Readers, OneQuestionWordMakesThemEqual) {
  const TinyChooser as(reader("as-reader")), aoa(reader("aoa"));
  copy_parameters(as.parameters, aoa.parameters);
  for (const Parameters::Entry& entry : as.parameters.entries())
    if (entry.name.starts_with("question.")) {
      const Tensor same = as.parameters.at("encoder." + entry.name.substr(9)).value().contiguous();
      Tensor value = entry.var.value();
      std::copy_n(same.data(), same.size(), value.data());
    }
  std::vector<Source> texts = some_texts(reader("aoa"));
  texts[1] = sentences({{4, 2}, {9, 2}, {7, 2}}, 0);
  texts[1].marks = Ids(Shape{3, 2}, {0, -1, 0, -1, 0, -1});
  EXPECT_LE(distance(as.chooser->forward(texts).scores.value(), aoa.chooser->forward(texts).scores.value()), 1e-5);
}

TEST(Readers, AChoiceThatDoesNotOccurIsAllButImpossible) {
  const TinyChooser tiny(reader("aoa"));
  std::vector<Source> texts = some_texts(reader("aoa"));
  for (std::int32_t& mark : texts[0].marks.values())
    if (mark == 1) mark = -1;
  const Tensor p = softmax(tiny.chooser->forward(texts).scores).value().contiguous();
  for (Index b = 0; b < 3; ++b) EXPECT_LT(p.data()[b * 5 + 1], 1e-8);
}

TEST(Readers, OptionsAreScoredByTheirWordsWhetherTheyOccurOrNot) {
  const auto options = reader("as-reader", {{"answer-from", "options"}});
  const TinyChooser tiny(options);
  std::vector<Source> texts = some_texts(options);
  const Tensor before = softmax(tiny.chooser->forward(texts).scores).value().contiguous();
  texts[0].marks = Ids(texts[0].marks.shape(), -1);
  EXPECT_LE(distance(before, softmax(tiny.chooser->forward(texts).scores).value().contiguous()), 1e-6);
  texts[2].words.data()[0] = 8;  // the first option becomes another word
  EXPECT_GT(distance(before, softmax(tiny.chooser->forward(texts).scores).value().contiguous()), 1e-4);
}

TEST(Readers, TextsAloneAreAnError) {
  const TinyChooser tiny(reader("aoa"));
  EXPECT_THROW(tiny.chooser->forward(some_texts(2)), Error);
}

}  // namespace
}  // namespace heed::test
