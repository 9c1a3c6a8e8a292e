#include "heed/serve/model_shelf.h"

#include <gtest/gtest.h>

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

TEST(ModelShelf, FindsModelsByNameAndByJob) {
  const TemporaryFolder folder;
  const std::filesystem::path model = make_rnnsearch(folder.path(), "model"),
                              brief = make_rnnsearch(folder.path(), "brief", "summarisation");
  const ModelShelf shelf({{"one", model}, {"brief", brief}, {"demo", model}}, 1);
  EXPECT_EQ(shelf.named("")->name(), "one");
  EXPECT_EQ(shelf.named("demo")->name(), "demo");
  EXPECT_EQ(message_of([&] { shelf.named("dmo"); }), "there is no model dmo; did you mean demo?");
  const Job &translation = job_named("translation"), &summarisation = job_named("summarisation");
  EXPECT_EQ(shelf.of_job(translation).size(), 2u);
  EXPECT_EQ(shelf.named_of_job(translation, "")->name(), "one");
  EXPECT_EQ(shelf.named_of_job(translation, "demo")->name(), "demo");
  EXPECT_EQ(shelf.named_of_job(summarisation, "")->name(), "brief");
  EXPECT_EQ(message_of([&] { shelf.named_of_job(translation, "brief"); }),
            "brief is for summarisation, not for translation");
  EXPECT_EQ(message_of([&] {
              ModelShelf({{"one", model}}, 1).named_of_job(summarisation, "");
            }),
            "no model here is for summarisation; GET /models lists those there are");
  EXPECT_EQ(message_of([&] {
              ModelShelf({{"a", model}, {"a", model}}, 1);
            }),
            "two models have the name a; give one another with NAME=FOLDER");
  EXPECT_NE(message_of([&] {
              ModelShelf({{"a", folder.path() / "none"}}, 1);
            }).find("there is no such model folder"),
            std::string::npos);
}

TEST(ModelShelf, LanguagesAreGivenOrTrainedOrNamed) {
  const TemporaryFolder folder;
  const std::filesystem::path plain = make_rnnsearch(folder.path(), "plain"),
                              noted = make_rnnsearch(folder.path(), "noted", "translation",
                                                     R"({"options": {"languages": "cs-da"}, "example": ["a b"]})");
  using Languages = std::vector<std::string>;
  const ModelShelf shelf(
      {{"plain", plain}, {"en-de", plain}, {"noted", noted}, {"fr-it", noted}, {"fr-es", noted, {"pl", "sv"}}}, 1);
  EXPECT_EQ(shelf.named("plain")->languages(), Languages{});
  EXPECT_EQ(shelf.named("en-de")->languages(), (Languages{"en", "de"}));
  EXPECT_EQ(shelf.named("noted")->languages(), (Languages{"cs", "da"}));
  EXPECT_EQ(shelf.named("fr-it")->languages(), (Languages{"cs", "da"}));
  EXPECT_EQ(shelf.named("fr-es")->languages(), (Languages{"pl", "sv"}));
}

TEST(ModelShelf, ModelsHaveTheSettingsOfTheirSource) {
  const TemporaryFolder folder;
  const std::filesystem::path model = make_rnnsearch(folder.path(), "model");
  const auto shelf_with = [&](const RunSettings& settings) {
    return ModelShelf({{.name = "plain", .folder = model}, {.name = "set", .folder = model, .settings = settings}}, 1);
  };
  const ModelShelf shelf = shelf_with({{"alignment-reads", "true"}});
  EXPECT_FALSE(shelf.named("plain")->bundle().writer->aligns_as_read());
  EXPECT_TRUE(shelf.named("set")->bundle().writer->aligns_as_read());
  make_rnnsearch(folder.path(), "other");
  std::filesystem::remove_all(model);
  std::filesystem::rename(folder.path() / "other", model);
  const auto renewed = shelf.renewed([](const std::string&) {});
  EXPECT_NE(renewed->named("set"), shelf.named("set"));
  EXPECT_TRUE(renewed->named("set")->bundle().writer->aligns_as_read());
  EXPECT_NE(message_of([&] {
              shelf_with({{"hidden", "3"}});
            }).find("hidden is not what a run can set"),
            std::string::npos);
}

TEST(ModelShelf, IsRenewedWhereFoldersHaveChanged) {
  const TemporaryFolder folder;
  const std::filesystem::path first = make_rnnsearch(folder.path(), "first"),
                              second = make_rnnsearch(folder.path(), "second");
  const ModelShelf shelf({{"a", first}, {"b", second}, {"c", second}}, 1);
  std::vector<std::string> said;
  const auto renewed = [&](const ModelShelf& from) {
    said.clear();
    return from.renewed([&](const std::string& line) { said.push_back(line); });
  };
  using Lines = std::vector<std::string>;
  write_file(first / "train.jsonl", "a log is not the model");
  const auto same = renewed(shelf);
  EXPECT_EQ(same->models(), shelf.models());
  EXPECT_EQ(said,
            (Lines{"a: its folder has not changed", "b: its folder has not changed", "c: its folder has not changed"}));

  std::filesystem::remove_all(second);
  make_transformer(folder.path(), "second");
  const auto newer = renewed(*same);
  EXPECT_EQ(newer->named("a"), shelf.named("a"));
  EXPECT_EQ(shelf.named("b")->bundle().system->name, "rnnsearch");  // whoever has it may go on with it
  for (const char* name : {"b", "c"}) EXPECT_EQ(newer->named(name)->bundle().system->name, "transformer");
  EXPECT_EQ(said, (Lines{"a: its folder has not changed", "b: loaded again from " + second.string(),
                         "c: loaded again from " + second.string()}));

  write_file(second / "model.safetensors", "broken");
  const auto kept = renewed(*newer);
  EXPECT_EQ(kept->models(), newer->models());
  EXPECT_TRUE(said[1].starts_with("b: stays as it is: " + second.string())) << said[1];
  std::filesystem::remove_all(first);
  EXPECT_EQ(renewed(*kept)->named("a"), shelf.named("a"));
  EXPECT_TRUE(said[0].starts_with("a: stays as it is: ")) << said[0];
}

TEST(ServedModel, KeepsTheVariantsOfItsNormaliser) {
  const TemporaryFolder folder;
  const ModelShelf shelf({{"r", make_rnnsearch(folder.path(), "r")}, {"t", make_transformer(folder.path(), "t")}}, 1);
  ServedModel& model = *shelf.named("r");
  EXPECT_EQ(model.variant("").get(), &model.runner());
  EXPECT_EQ(model.variant("softmax").get(), &model.runner());
  const std::shared_ptr<Runner> sparse = model.variant("sparsemax");
  EXPECT_EQ(model.variant("sparsemax"), sparse);
  EXPECT_EQ(sparse->name(), "r");
  EXPECT_EQ(message_of([&] { model.variant("sparsmax"); }),
            "normaliser: there is no normaliser sparsmax; did you mean sparsemax?");
  EXPECT_EQ(message_of([&] { shelf.named("t")->variant("sparsemax"); }),
            "normaliser: transformer has no normaliser that can be exchanged");
  for (const std::string& name : model.normalisers()) EXPECT_NE(model.variant(name).get(), &model.runner()) << name;
  EXPECT_TRUE(shelf.named("t")->normalisers().empty());
}

}  // namespace
}  // namespace heed
