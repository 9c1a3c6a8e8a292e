#include "heed/serve/model_shelf.h"

#include <gtest/gtest.h>

#include "heed/attention/parts.h"
#include "serve/running_server.h"
#include "support/messages.h"

namespace heed {
namespace {

using test::make_rnnsearch;
using test::make_transformer;
using test::message_of;

TEST(ModelSource, IsNamedOrTakesItsFoldersName) {
  EXPECT_EQ(model_source("models/demo").name, "demo");
  EXPECT_EQ(model_source("models/demo/").name, "demo");
  EXPECT_EQ(model_source("en-de=models/a b").name, "en-de");
  EXPECT_EQ(model_source("en-de=models/a b").folder, "models/a b");
  EXPECT_EQ(model_source(".").name, std::filesystem::current_path().filename().string());
  EXPECT_NE(message_of([] { model_source("models/a b"); }).find("NAME=FOLDER"), std::string::npos);
  EXPECT_NE(message_of([] { model_source("=models"); }).find("NAME=FOLDER"), std::string::npos);
}

TEST(ModelShelf, FindsModelsByNameAndByLanguages) {
  const TemporaryFolder folder;
  const std::filesystem::path model = make_rnnsearch(folder.path(), "model");
  const ModelShelf shelf({{"en-de", model}, {"en-fr", model}, {"demo", model}}, 1);
  EXPECT_EQ(shelf.named("").name(), "en-de");
  EXPECT_EQ(shelf.named("demo").name(), "demo");
  EXPECT_EQ(message_of([&] { shelf.named("dmo"); }), "there is no model dmo; did you mean demo?");
  EXPECT_EQ(shelf.between("en", "fr").name(), "en-fr");
  EXPECT_EQ(shelf.between("auto", "de").name(), "en-de");
  EXPECT_EQ(message_of([&] { shelf.between("en", "xx"); }),
            "no model translates from en to xx; GET /languages lists those there are");
  EXPECT_EQ(ModelShelf({{"demo", model}}, 1).between("en", "xx").name(), "demo");
  EXPECT_EQ(message_of([&] {
              ModelShelf({{"a", model}, {"a", model}}, 1);
            }),
            "two models have the name a; give one another with NAME=FOLDER");
  EXPECT_NE(message_of([&] {
              ModelShelf({{"a", folder.path() / "none"}}, 1);
            }).find("there is no such model folder"),
            std::string::npos);
}

TEST(ModelShelf, DescribesItsAttention) {
  const TemporaryFolder folder;
  const ModelShelf shelf({{"r", make_rnnsearch(folder.path(), "r")}, {"t", make_transformer(folder.path(), "t")}}, 1);
  EXPECT_EQ(attention_of(*shelf.named("r").bundle()), "additive × global × softmax");
  EXPECT_EQ(attention_of(*shelf.named("t").bundle()), "");
  ASSERT_EQ(shelf.named("r").attentions().size(), 1u);
  EXPECT_EQ(shelf.named("r").attentions().front().weights.size(0), 1);
  std::vector<std::string> names;
  for (const TraceAttention& attention : shelf.named("t").attentions()) {
    names.push_back(attention.name);
    EXPECT_EQ(attention.weights.size(0), 2);
  }
  EXPECT_EQ(names.size(), 5u);  // the encoder's layer has one, each of the decoder's two has two
}

TEST(Normaliser, IsExchangedUnderTheSameWeights) {
  const TemporaryFolder folder;
  const ModelShelf shelf({{"r", make_rnnsearch(folder.path(), "r")}, {"t", make_transformer(folder.path(), "t")}}, 1);
  ServedModel& model = shelf.named("r");
  EXPECT_EQ(model.variant(""), model.bundle());
  EXPECT_EQ(model.variant("softmax"), model.bundle());
  const std::shared_ptr<const TranslationBundle> sparse = model.variant("sparsemax");
  EXPECT_EQ(model.variant("sparsemax"), sparse);
  EXPECT_EQ(attention_of(*sparse), "additive × global × sparsemax");
  for (const Parameters::Entry& entry : sparse->parameters->entries()) {
    const Tensor& ours = entry.var.value();
    const Tensor& theirs = model.bundle()->parameters->at(entry.name).value();
    EXPECT_TRUE(std::equal(ours.data(), ours.data() + ours.size(), theirs.data())) << entry.name;
  }
  EXPECT_EQ(message_of([&] { model.variant("sparsmax"); }),
            "normaliser: there is no normaliser sparsmax; did you mean sparsemax?");
  EXPECT_EQ(message_of([&] { shelf.named("t").variant("sparsemax"); }),
            "normaliser: transformer has no normaliser that can be exchanged");
  for (const PartEntry<Normaliser>& entry : RegisterNormaliser::entries())
    EXPECT_EQ(model.variant(entry.name)->parameters->count(), model.bundle()->parameters->count()) << entry.name;
}

}  // namespace
}  // namespace heed
