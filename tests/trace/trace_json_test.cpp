#include "heed/trace/trace_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "trace/small_trace.h"
#include "heed/base/file.h"
#include "support/messages.h"

namespace heed::test {
namespace {

using Json = nlohmann::json;

TEST(TraceJson, IsWrittenAsDocumented) {
  Trace trace;
  trace.model = "demo";
  trace.system = "rnnsearch";
  trace.source = {"a\"<b>", {{"▁a\"<b>", 0, 5, 0}, {"</s>", 5, 5, -1}}, {{"a\"<b>", 0, 5}}};
  trace.target = {"猫", {{"▁猫", 0, 1, 0}, {"</s>", 1, 1, -1}}, {{"猫", 0, 1}}};
  trace.alignment = Tensor(Shape{2, 2}, {Real{1} / 3, Real{2} / 3, 0, 1});
  trace.log_probabilities = {-1e-7, -12.3456789};
  EXPECT_EQ(to_json(trace),
            R"({"format":"heed-trace","version":1,"model":"demo","system":"rnnsearch",)"
            R"("source":{"text":"a\"<b>","tokens":[{"text":"▁a\"<b>","begin":0,"end":5,"word":0},)"
            R"({"text":"</s>","begin":5,"end":5,"word":-1}],"words":[{"text":"a\"<b>","begin":0,"end":5}]},)"
            R"("target":{"text":"猫","tokens":[{"text":"▁猫","begin":0,"end":1,"word":0},)"
            R"({"text":"</s>","begin":1,"end":1,"word":-1}],"words":[{"text":"猫","begin":0,"end":1}]},)"
            R"("alignment":[[0.33333,0.66667],[0,1]],"log_probabilities":[-1e-07,-12.346]})");
}

TEST(TraceJson, ComesBackWhole) {
  const Trace trace = small_trace();
  const std::string json = to_json(trace);
  const Trace read = trace_from_json(json);
  EXPECT_EQ(to_json(read), json);
  EXPECT_EQ(read.target.tokens.at(3).text, "ats");
  EXPECT_EQ(read.target.tokens.at(3).begin, 7);
  EXPECT_EQ(read.target.words.at(1).text, "猫");
  EXPECT_EQ(read.alignment.at({1, 2}), Real{0.25F});
  EXPECT_EQ(read.log_probabilities, trace.log_probabilities);
  ASSERT_EQ(read.attentions.size(), 3u);
  EXPECT_EQ(read.attentions[1].layer, 2);
  EXPECT_EQ(read.attentions[2].rows, TraceSide::source);
  EXPECT_EQ(read.attentions[0].weights.at({1, 2, 2}), 1);
  EXPECT_EQ(read.beam.at(0).at(1).token, "▁la");
  EXPECT_TRUE(read.beam.at(0).at(0).chosen);
  ASSERT_EQ(read.trust.size(), 1u);
  EXPECT_EQ(read.trust[0].gradient_agreement, 0.4);
  EXPECT_TRUE(std::isnan(read.trust[0].alignment_error));
}

TEST(TraceJson, WhatIsNotFiniteIsLeftOut) {
  Trace trace = small_trace();
  trace.alignment.data()[3] = std::numeric_limits<Real>::quiet_NaN();
  trace.log_probabilities[2] = -std::numeric_limits<double>::infinity();
  trace.attentions[1].weights.data()[0] = std::numeric_limits<Real>::infinity();
  trace.beam[0][1].log_probability = -std::numeric_limits<double>::infinity();
  trace.trust[0].sufficiency = std::numeric_limits<double>::quiet_NaN();
  const Json json = Json::parse(to_json(trace));
  EXPECT_FALSE(json.contains("alignment"));
  EXPECT_FALSE(json.contains("log_probabilities"));
  EXPECT_EQ(json["attentions"].size(), 2u);
  EXPECT_FALSE(json["beam"][0][1].contains("log_probability"));
  EXPECT_FALSE(json["trust"].contains("sufficiency"));
  EXPECT_EQ(trace_from_json(json.dump()).beam[0][1].log_probability, -std::numeric_limits<double>::infinity());
}

TEST(TraceJson, TextThatIsNoTextIsReplaced) {
  Trace trace = small_trace();
  trace.source.text = "the \xff\xfe\x01s";
  EXPECT_EQ(trace_from_json(to_json(trace)).source.text, "the \ufffd\ufffd\x01s");
}

// What is said of the small trace after one change.
std::string about(const std::function<void(Json&)>& change) {
  Json json = Json::parse(to_json(small_trace()));
  change(json);
  return message_of([&] { trace_from_json(json.dump(), "t.json"); });
}

TEST(TraceJson, WhatIsBrokenIsSaidWithItsPlace) {
  EXPECT_EQ(about([](Json& j) { j["format"] = "other"; }), "t.json: it is no trace: \"format\" is not \"heed-trace\"");
  EXPECT_EQ(about([](Json& j) { j["version"] = 2; }), "t.json: its version is 2, and this program knows 1");
  EXPECT_EQ(about([](Json& j) { j.erase("source"); }), "t.json: source is missing");
  EXPECT_EQ(about([](Json& j) { j["model"] = 3; }), "t.json: model must be text");
  EXPECT_EQ(about([](Json& j) { j["source"] = "a"; }), "t.json: source must be an object");
  EXPECT_EQ(about([](Json& j) { j["source"]["tokens"] = Json::object(); }), "t.json: source.tokens must be a list");
  EXPECT_EQ(about([](Json& j) { j["target"]["tokens"][1].erase("begin"); }),
            "t.json: target.tokens[1].begin is missing");
  EXPECT_EQ(about([](Json& j) { j["source"]["tokens"][1]["begin"] = 0.5; }),
            "t.json: source.tokens[1].begin must be a whole number");
  EXPECT_EQ(about([](Json& j) { j["source"]["tokens"][1]["end"] = 9; }),
            "t.json: source.tokens[1].end is 9, not in 4..8");
  EXPECT_EQ(about([](Json& j) { j["source"]["tokens"][1]["end"] = 3; }),
            "t.json: source.tokens[1].end is 3, not in 4..8");
  EXPECT_EQ(about([](Json& j) { j["source"]["tokens"][1]["begin"] = 18446744073709551615ULL; }),
            "t.json: source.tokens[1].begin is 18446744073709551615, not in 0..8");
  EXPECT_EQ(about([](Json& j) { j["target"]["tokens"][0]["word"] = 3; }),
            "t.json: target.tokens[0].word is 3, not in -1..2");
  EXPECT_EQ(about([](Json& j) { j["alignment"].erase(0); }),
            "t.json: alignment has 4 items, but there are 5 tokens of its rows");
  EXPECT_EQ(about([](Json& j) { j["alignment"][2].push_back(0); }),
            "t.json: alignment[2] has 5 items, but there are 4 tokens of its columns");
  EXPECT_EQ(about([](Json& j) { j["alignment"][2][1] = nullptr; }), "t.json: alignment[2][1] must be a number");
  EXPECT_EQ(about([](Json& j) { j["alignment"][2][1] = 1e300; }), "t.json: alignment[2][1] is too large");
  EXPECT_EQ(about([](Json& j) { j["alignment"][2] = 1; }), "t.json: alignment[2] must be a list");
  EXPECT_EQ(about([](Json& j) { j["log_probabilities"].push_back(0); }),
            "t.json: log_probabilities has 6 items, but there are 5 tokens of the target");
  EXPECT_EQ(about([](Json& j) { j["attentions"][0]["rows"] = "middle"; }),
            "t.json: attentions[0].rows must be source or target, not \"middle\"");
  EXPECT_EQ(about([](Json& j) { j["attentions"][0]["layer"] = 0; }),
            "t.json: attentions[0].layer is 0, not in 1..1000000");
  EXPECT_EQ(about([](Json& j) { j["attentions"][1]["weights"] = Json::array(); }),
            "t.json: attentions[1].weights is empty; there is at least one head");
  EXPECT_EQ(about([](Json& j) { j["attentions"][1]["weights"][1].erase(4); }),
            "t.json: attentions[1].weights[1] has 4 items, but there are 5 tokens of its rows");
  EXPECT_EQ(about([](Json& j) { j["beam"][1][0]["from"] = 2; }), "t.json: beam[1][0].from is 2, not in 0..1");
  EXPECT_EQ(about([](Json& j) { j["beam"][0][0]["ended"] = 1; }), "t.json: beam[0][0].ended must be true or false");
  EXPECT_EQ(about([](Json& j) { j["trust"]["entropy"].erase(0); }),
            "t.json: trust.entropy has 4 items, but there are 5 tokens of the target");
}

TEST(TraceJson, WhatIsNoJsonIsSaidToBeNone) {
  const auto message = [](const std::string& text) { return message_of([&] { trace_from_json(text, "t.json"); }); };
  EXPECT_EQ(message(""), "t.json: it is not valid JSON at byte 1");
  EXPECT_EQ(message("{\"format\":"), "t.json: it is not valid JSON at byte 11");
  EXPECT_EQ(message("{\"format\":NaN}"), "t.json: it is not valid JSON at byte 11");
  EXPECT_EQ(message("[1e999]"), "t.json: it has a number that is too large");
  EXPECT_EQ(message("\"\xff\""), "t.json: it is not valid JSON at byte 2");
  EXPECT_EQ(message("[1, 2]"), "t.json: it is no trace: \"format\" is not \"heed-trace\"");
  EXPECT_EQ(message(std::string(1'000'000, '[')), "t.json: it is nested too deeply to be a trace");
}

TEST(TraceJson, UnknownFieldsArePassedOver) {
  Json json = Json::parse(to_json(small_trace()));
  json["later"] = {1, 2, 3};
  json["source"]["tokens"][0]["tag"] = "DET";
  EXPECT_EQ(to_json(trace_from_json(json.dump())), to_json(small_trace()));
}

// What the schema says of one value; only what our schema uses.
void check_schema(const Json& root, const Json& schema, const Json& value, const std::string& where) {
  if (schema.contains("$ref")) {
    const std::string path = schema["$ref"].get<std::string>().substr(1);
    check_schema(root, root.at(Json::json_pointer(path)), value, where);
  }
  if (schema.contains("const")) {
    EXPECT_EQ(value, schema["const"]) << where;
  }
  if (schema.contains("enum")) {
    EXPECT_NE(std::find(schema["enum"].begin(), schema["enum"].end(), value), schema["enum"].end()) << where;
  }
  if (schema.contains("type")) {
    const std::string type = schema["type"];
    const bool fits = type == "object"    ? value.is_object()
                      : type == "array"   ? value.is_array()
                      : type == "string"  ? value.is_string()
                      : type == "boolean" ? value.is_boolean()
                      : type == "integer" ? value.is_number_integer()
                                          : value.is_number();
    EXPECT_TRUE(fits) << where << " is no " << type;
  }
  if (schema.contains("minimum")) {
    EXPECT_GE(value, schema["minimum"]) << where;
  }
  if (schema.contains("maximum")) {
    EXPECT_LE(value, schema["maximum"]) << where;
  }
  if (schema.contains("required"))
    for (const Json& name : schema["required"]) {
      EXPECT_TRUE(value.contains(name.get<std::string>())) << where << name;
    }
  if (schema.contains("properties"))
    for (const auto& [name, inner] : schema["properties"].items())
      if (value.contains(name)) check_schema(root, inner, value[name], where + "." + name);
  if (schema.contains("items"))
    for (std::size_t i = 0; i < value.size(); ++i)
      check_schema(root, schema["items"], value[i], fmt::format("{}[{}]", where, i));
}

TEST(TraceJson, FitsItsSchemaWhichNamesEveryField) {
  const Json schema = Json::parse(read_file(HEED_SOURCE_DIR "/docs/trace.schema.json"));
  const Json json = Json::parse(to_json(small_trace()));
  check_schema(schema, schema, json, "trace");
  for (const auto& [name, value] : json.items()) EXPECT_TRUE(schema["properties"].contains(name)) << name;
  const auto names_all = [&](const char* definition, const Json& value) {
    for (const auto& [name, inner] : value.items())
      EXPECT_TRUE(schema["$defs"][definition]["properties"].contains(name)) << definition << "." << name;
  };
  names_all("text", json["source"]);
  names_all("attention", json["attentions"][0]);
  names_all("hypothesis", json["beam"][0][0]);
  names_all("trust", json["trust"]);
}

}  // namespace
}  // namespace heed::test
