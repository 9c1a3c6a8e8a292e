#include "heed/store/fields_file.h"

#include <gtest/gtest.h>

#include "support/messages.h"

namespace heed {
namespace {

using test::message_of;
using Options = std::map<std::string, std::string>;

TEST(ReadOptions, ReadsJsonAndLinesAlike) {
  const Options expected{{"model", "luong"}, {"train-sets", "a.en a.de"}, {"rate", "0.001"}, {"tied", "true"}};
  EXPECT_EQ(read_options(R"({"model": "luong", "train-sets": ["a.en", "a.de"], "rate": 0.001, "tied": true})", "f"),
            expected);
  EXPECT_EQ(read_options("# mine\nmodel: luong   # the second one\ntrain-sets:\n  - a.en\n  - a.de\n\nrate: 0.001\n"
                         "tied: true",
                         "f"),
            expected);
  EXPECT_EQ(read_options("train-sets: [a.en, 'a.de']\nmodel: \"luong\"\nrate: 0.001\r\ntied: true\n", "f"), expected);
  EXPECT_TRUE(read_options("", "f").empty());
}

TEST(ReadOptions, SaysWhereItIsWrong) {
  EXPECT_EQ(message_of([] { read_options("model luong", "f"); }), "f:1: expected \"name: value\", not \"model luong\"");
  EXPECT_EQ(message_of([] { read_options("a: 1\na: 2", "f"); }), "f:2: \"a\" is given twice");
  EXPECT_EQ(message_of([] { read_options("- a", "f"); }), "f:1: a list item without an option before it");
  EXPECT_EQ(message_of([] { read_options("{\"a\": ", "f"); }), "f: it is not valid JSON at byte 7");
  EXPECT_EQ(message_of([] { read_options("{\"a\": {\"b\": 1}}", "f"); }),
            "f: \"a\" must be a number, text, true or false, or a list of these");
  EXPECT_EQ(message_of([] { read_options("b: 1\na:\n  b: 1", "f"); }),
            "f:2: \"a\" must be a number, text, true or false, or a list of these");
  EXPECT_EQ(message_of([] { read_options("a: 1\nb: [1, 2", "f"); }).substr(0, 25), "f:2: it is not valid YAML");
  EXPECT_EQ(message_of([] { read_options("a: 1\n---\nb: 2", "f"); }), "f: it has 2 documents instead of one");
  EXPECT_EQ(message_of([] { read_options("[a]: 1", "f"); }), "f:1: an option's name must be text");
}

TEST(ReadOptions, ReadsWhatYamlMeans) {
  EXPECT_EQ(read_options("---\na:\nb: 'it''s # no comment'\nc: \"\\u00e9\"\nd: x:y\n", "f"),
            (Options{{"a", ""}, {"b", "it's # no comment"}, {"c", "é"}, {"d", "x:y"}}));
}

TEST(ReadOptions, DeepNestingIsAnErrorAndNoCrash) {
  for (const int depth : {2, 100, 40'000}) {
    const std::size_t count = static_cast<std::size_t>(depth);
    std::string objects;
    for (int i = 0; i < depth; ++i) objects += "{\"a\": ";
    const std::string lists = std::string(count, '[') + std::string(count, ']');
    for (const std::string& text : {"{\"a\": " + lists + "}", objects + "1" + std::string(count, '}'), "a: " + lists,
                                    "a: " + objects + "1" + std::string(count, '}'), "a: " + std::string(count, '[')})
      EXPECT_TRUE(message_of([&] { read_options(text, "f"); }).starts_with("f:")) << depth << text.substr(0, 9);
  }
}

TEST(ReadOptions, SaysThatYamlIsTooDeep) {
  EXPECT_EQ(message_of([] { read_options("a: " + std::string(1000, '['), "f"); }),
            "f: it is nested deeper than any option is");
}

// Each list names the one before it ten times; written out, the last would have 10^20 items.
TEST(ReadOptions, ListsOfListsByReferenceAreNotWrittenOut) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i <= 20; ++i) {
    text += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) text += fmt::format("{}*a{}", k ? ", " : "", i - 1);
    text += "]\n";
  }
  EXPECT_EQ(message_of([&] { read_options(text, "f"); }),
            "f:2: \"a1\" must be a number, text, true or false, or a list of these");
}

}  // namespace
}  // namespace heed
