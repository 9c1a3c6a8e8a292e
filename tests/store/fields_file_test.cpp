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
  EXPECT_EQ(message_of([] { read_options("{\"a\": ", "f"); }), "f: it is not valid JSON");
  EXPECT_EQ(message_of([] { read_options("{\"a\": {\"b\": 1}}", "f"); }),
            "f: \"a\" must be a number, text, true or false");
}

}  // namespace
}  // namespace heed
