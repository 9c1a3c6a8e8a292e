#include "heed/store/model_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "heed/base/file.h"
#include "heed/store/folder_lock.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::message_of;

struct Config {
  Index width = 8;
  double dropout = 0.1;
  bool tied = false;
  std::string score = "additive \"quoted\"";
  void visit(Fields& field) {
    field("width", width, "of the states");
    field("dropout", dropout, "share of zeros");
    field("tied", tied, "one table for both");
    field("score", score, "of the attention");
  }
};

class ModelFolderTest : public testing::Test {
 protected:
  VisitFields visit(Config& config) const {
    return [&config](Fields& field) { config.visit(field); };
  }
  ModelFolder create(bool replace = false, const char* vocabulary = "words") {
    Config config{.width = 12, .dropout = 1.0 / 3, .tied = true};
    return ModelFolder::create(path_, {.model = "toy"}, visit(config), {{"source.vocab.txt", vocabulary}}, replace);
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  std::string opening() const {
    return message_of([&] {
      Config config;
      ModelFolder(path_).read_config(visit(config));
    });
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "model";
};

TEST_F(ModelFolderTest, KeepsEveryField) {
  create();
  const ModelFolder opened(path_ / "");
  Config config;
  opened.read_config(visit(config));
  EXPECT_EQ(opened.model(), "toy");
  EXPECT_EQ(config.width, 12);
  EXPECT_EQ(config.dropout, 1.0 / 3);
  EXPECT_TRUE(config.tied);
  EXPECT_EQ(config.score, "additive \"quoted\"");
  EXPECT_EQ(opened.vocabulary("source"), path_ / "source.vocab.txt");
  EXPECT_EQ(
      message_of([&] { opened.vocabulary("target"); }),
      path_.string() +
          ": its target vocabulary is missing (target.spm, target.vocab.txt, target.tokens.txt or target.letters.txt)");
  // Nothing half made is left beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(ModelFolderTest, AnOldModelIsReplacedOnlyWhenAsked) {
  create();
  const std::string there = path_.string() +
                            ": there is a model already; --resume continues its training, --force "
                            "replaces it";
  EXPECT_EQ(message_of([&] { create(false, "other"); }), there);
  EXPECT_EQ(read_file(path_ / "source.vocab.txt"), "words");
  put("model.safetensors", "old");
  create(true, "other");
  EXPECT_EQ(read_file(path_ / "source.vocab.txt"), "other");
  EXPECT_FALSE(fs::exists(path_ / "model.safetensors"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

// A training writes to its folder by name, so not even for a moment may another folder have it.
TEST_F(ModelFolderTest, AFolderInUseKeepsItsNameThreads) {
  create();
  const FolderLock lock(path_);
  std::atomic<bool> ends = false;
  std::size_t written = 0;
  std::thread training([&] {
    for (; !ends; ++written) put("step" + std::to_string(written), "done");
  });
  for (int i = 0; i < 50; ++i) {
    const std::string message = message_of([&] { create(true, "other"); });
    EXPECT_EQ(message.find(path_.string() + ": it is in use by another training: "), 0U) << message;
  }
  ends = true;
  training.join();
  ASSERT_GT(written, 0U);
  for (std::size_t step = 0; step < written; ++step)
    ASSERT_TRUE(fs::exists(path_ / ("step" + std::to_string(step)))) << step;
}

TEST_F(ModelFolderTest, AnotherFolderIsNeverReplaced) {
  fs::create_directory(path_);
  put("letter.txt", "dear");
  EXPECT_EQ(message_of([&] { create(true); }),
            path_.string() + ": it exists and is not a model folder; choose another output");
  EXPECT_EQ(read_file(path_ / "letter.txt"), "dear");
  fs::remove(path_ / "letter.txt");
  create();  // an empty one is free
  EXPECT_TRUE(is_model_folder(path_));
}

TEST_F(ModelFolderTest, SaysWhatIsWrong) {
  EXPECT_EQ(opening(), path_.string() + ": there is no such model folder");
  create();
  const std::string good = read_file(path_ / "config.json"), file = (path_ / "config.json").string();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    put("config.json", text);
  };
  with("\"version\": 1", "\"version\": 2");
  EXPECT_EQ(opening(), file + ": its version is 2, this program reads version 1");
  with("\"width\"", "\"widht\"");
  EXPECT_EQ(opening(), file + ": the field width is missing");
  with("\"width\": 12", "\"width\": 12,\n    \"witdh\": 3");
  EXPECT_EQ(opening(), file + ": toy has no field witdh; did you mean width?");
  with("\"width\": 12", "\"width\": 1.5");
  EXPECT_EQ(opening(), file + ": width must be a whole number, not '1.5'");
  put("config.json", good.substr(0, good.size() / 2));
  EXPECT_TRUE(opening().starts_with(file + ": it is not valid JSON at byte ")) << opening();
  put("config.json", "[]");
  EXPECT_EQ(opening(), file + ": it is damaged, or not the configuration of a model");
  fs::remove(path_ / "config.json");
  EXPECT_EQ(opening(), path_.string() + ": it is not a model folder: config.json is missing");
}

TEST_F(ModelFolderTest, SeesWhatIsNotWhatWasWritten) {
  const ModelFolder folder = create();
  Parameters parameters;
  parameters.add("x", Shape{2}, init::constant(4));
  folder.save_weights(parameters);
  folder.verify(ModelFolder::Verify::all);
  const std::string weights = read_file(folder.weights());
  put("model.safetensors", weights.substr(0, weights.size() - 1) + "x");
  folder.verify(ModelFolder::Verify::without_tensors);
  const auto fault = [&] { return message_of([&] { folder.verify(ModelFolder::Verify::all); }); };
  EXPECT_TRUE(fault().starts_with(folder.weights().string() + ": it is not what was written")) << fault();
  put("model.safetensors", weights);
  folder.verify(ModelFolder::Verify::all);
  put("source.vocab.txt", "wordz");
  EXPECT_TRUE(message_of([&] {
                folder.verify(ModelFolder::Verify::without_tensors);
              }).starts_with((path_ / "source.vocab.txt").string() + ": it is not what was written"));
  fs::remove(path_ / "digests.json");  // as older folders have none
  folder.verify(ModelFolder::Verify::all);
}

TEST_F(ModelFolderTest, DeepNestingIsAnErrorAndNoCrash) {
  create();
  put("config.json", "{\"version\": 1, \"model\": \"toy\", \"config\": {\"width\": " + std::string(40'000, '[') +
                         std::string(40'000, ']') + "}}");
  EXPECT_EQ(opening(), (path_ / "config.json").string() + ": it is nested deeper than 16 levels");
}

TEST_F(ModelFolderTest, WeightsThatAreNotThereAreNamed) {
  const ModelFolder folder = create();
  Parameters parameters;
  parameters.add("x", Shape{2}, init::constant(4));
  EXPECT_EQ(message_of([&] { folder.stored_weights(); }),
            path_.string() +
                ": model.safetensors is missing; its training has not come so far, and heed train "
                "--resume continues it");
  folder.save_weights(parameters);
  Parameters other;
  other.give(folder.stored_weights());
  const Var x = other.add("x", Shape{2}, init::zeros());
  EXPECT_EQ(x.value().at({1}), 4);
}

TEST_F(ModelFolderTest, LeftoversOfAKilledProcessGo) {
  const ModelFolder folder = create();
  put("model.safetensors.0123abcd.partial", "half");
  put("checkpoint/training.safetensors.0123abcd.partial", "half");
  folder.remove_partial_files();
  EXPECT_FALSE(fs::exists(path_ / "model.safetensors.0123abcd.partial"));
  EXPECT_TRUE(fs::is_empty(path_ / "checkpoint"));
  EXPECT_TRUE(fs::exists(path_ / "source.vocab.txt"));
}

}  // namespace
}  // namespace heed
