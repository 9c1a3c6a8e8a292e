#include "heed/models/seq2seq_gru.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "models/translation_cases.h"
#include "support/messages.h"

namespace heed::test {
namespace {

// Negating everything that goes into z turns one sense of the update gate into the other.
TEST(Seq2SeqGruModel, TheTwoSensesOfTheUpdateGateAreOneNegation) {
  TinyModel keeps({"seq2seq-gru", {}}), takes({"seq2seq-gru", {{"update", "takes"}}});
  const Source source = some_sources(), previous = some_previous();
  const auto logits = [&](const TinyModel& tiny) {
    return tiny.model->forward(source, previous).words.logits().value().contiguous();
  };
  EXPECT_GT(distance(logits(keeps), logits(takes)), 1e-3);
  for (const char* name : {"encoder.input", "encoder.recurrent", "encoder.bias", "decoder.input", "decoder.recurrent",
                           "decoder.bias", "decoder.context.weight"}) {
    Tensor weight = takes.parameters.at(name).value();
    const Index gates = weight.size(-1), hidden = gates / 3;  // r, z, n
    for (Index i = 0; i < weight.size(); ++i)
      if (i % gates >= hidden && i % gates < 2 * hidden) weight.data()[i] = -weight.data()[i];
  }
  EXPECT_LE(distance(logits(keeps), logits(takes)), 1e-5);
}

// The source reaches every word through its summary alone: without its three ways in, the source does not matter.
TEST(Seq2SeqGruModel, TheContextIsThereAtEveryStep) {
  const Source previous = sentences({{1, 4, 8, 5}});
  const auto difference = [&](TinyModel& tiny) {
    const Tensor a = tiny.model->forward(sentences({{3, 7, 4, 2}}), previous).words.logits().value().contiguous();
    const Tensor b = tiny.model->forward(sentences({{9, 5, 2}}), previous).words.logits().value().contiguous();
    return distance(a, b);
  };
  const std::vector<std::string> ways{"start.weight", "decoder.context.weight", "readout.context.weight"};
  for (const std::string& open : ways) {
    TinyModel tiny({"seq2seq-gru", {}});
    for (const std::string& way : ways)
      if (way != open) fill(tiny.parameters, way, 0);
    EXPECT_GT(difference(tiny), 1e-3) << open;
    fill(tiny.parameters, open, 0);
    EXPECT_EQ(difference(tiny), 0) << open;
  }
}

TEST(Seq2SeqGruModel, SaysWhatIsWrong) {
  const auto make = [](const std::map<std::string, std::string>& settings) {
    return message_of([&] { TinyModel({"seq2seq-gru", settings}); });
  };
  EXPECT_EQ(make({{"reset", "befor"}}), "[seq2seq-gru] reset cannot be befor; did you mean before?");
  EXPECT_EQ(make({{"rank", "-1"}}), "[seq2seq-gru] a rank of -1");
}

}  // namespace
}  // namespace heed::test
