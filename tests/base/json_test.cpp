#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json-inl.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;
using test::message_of;

std::string nested(int depth) {
  const auto count = static_cast<std::size_t>(depth);
  return std::string(count, '[') + std::string(count, ']');
}

TEST(Json, HasOneDepthForAll) {
  EXPECT_EQ(parse_json(nested(kDeepestJson), "f").size(), 1u);
  for (const int depth : {kDeepestJson + 1, 40'000, 1'000'000}) {
    EXPECT_EQ(message_of([&] { parse_json(nested(depth), "f"); }), "f: it is nested deeper than 16 levels");
    EXPECT_EQ(message_of([&] { parse_json<Json>("{\"a\": " + nested(depth) + "}", "f"); }),
              "f: it is nested deeper than 16 levels");
  }
  EXPECT_EQ(parse_json("\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"", "f").type_name(),
            std::string("string"));
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(message_of([] { parse_json("{\"a\": 1,}", "f"); }), "f: it is not valid JSON at byte 9");
  EXPECT_EQ(message_of([] { parse_json("", "f"); }), "f: it is not valid JSON at byte 1");
  EXPECT_EQ(message_of([] { parse_json("]" + nested(3), "f"); }), "f: it is not valid JSON at byte 1");
  EXPECT_EQ(message_of([] { parse_json("[1e999]", "f"); }), "f: it has a number that is too large");
}

TEST(Json, FilesHaveASize) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "a.json";
  write_file(file, "[1, 2]");
  EXPECT_EQ(read_json_file(file).size(), 2u);
  EXPECT_EQ(message_of([&] { read_json_file(file, 5); }), file.string() + ": its 6 bytes are more than the 5 allowed");
}

TEST(Json, ANumberThatIsTextIsNamed) {
  const Json object = parse_json<Json>(R"({"step": "ten", "loss": 1.5, "seconds": null, "words": 7})", "f");
  EXPECT_EQ(whole_field(object, "words", 0, "f"), 7);
  EXPECT_EQ(number_field(object, "loss", 0, "f"), 1.5);
  EXPECT_EQ(number_field(object, "seconds", 2, "f"), 2);
  EXPECT_EQ(whole_field(object, "missing", 3, "f"), 3);
  EXPECT_EQ(message_of([&] { whole_field(object, "step", 0, "f:2"); }),
            "f:2: the field step must be a whole number, not string");
  EXPECT_EQ(message_of([&] { whole_field(object, "loss", 0, "f:2"); }),
            "f:2: the field loss must be a whole number, not number");
  EXPECT_EQ(message_of([&] { number_field(object, "step", 0, "f:2"); }),
            "f:2: the field step must be a number, not string");
}

}  // namespace
}  // namespace heed
