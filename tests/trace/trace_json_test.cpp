#include "heed/trace/trace_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "trace/small_trace.h"
#include "heed/base/file.h"
#include "support/messages.h"

namespace heed::test {
namespace {

using Json = nlohmann::json;

TEST(TraceJson, IsWrittenAsDocumented) {
  Trace trace = pair_trace({"a\"<b>", {{"▁a\"<b>", 0, 5, 0}, {"</s>", 5, 5, -1}}, {{"a\"<b>", 0, 5}}},
                           {"猫", {{"▁猫", 0, 1, 0}, {"</s>", 1, 1, -1}}, {{"猫", 0, 1}}});
  trace.model = "demo";
  trace.system = "rnnsearch";
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
  Trace trace = small_trace();
  trace.unlinked_at_end = true;
  const std::string json = to_json(trace);
  const Trace read = trace_from_json(json);
  EXPECT_EQ(to_json(read), json);
  EXPECT_EQ(read.axis("target").text.tokens.at(3).text, "ats");
  EXPECT_EQ(read.axis("target").text.tokens.at(3).begin, 7);
  EXPECT_EQ(read.axis("target").text.words.at(1).text, "猫");
  EXPECT_EQ(read.alignment.at({1, 2}), Real{0.25F});
  EXPECT_TRUE(read.unlinked_at_end);
  EXPECT_FALSE(trace_from_json(to_json(small_trace())).unlinked_at_end);
  EXPECT_EQ(read.log_probabilities, trace.log_probabilities);
  ASSERT_EQ(read.attentions.size(), 3u);
  EXPECT_EQ(read.attentions[1].layer, 2);
  EXPECT_EQ(read.attentions[2].rows, "source");
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
  trace.axis("source").text.text = "the \xff\xfe\x01s";
  EXPECT_EQ(trace_from_json(to_json(trace)).axis("source").text.text, "the \ufffd\ufffd\x01s");
}

// What is said of the small trace after one change.
std::string about(const std::function<void(Json&)>& change) {
  Json json = Json::parse(to_json(small_trace()));
  change(json);
  return message_of([&] { trace_from_json(json.dump(), "t.json"); });
}

TEST(TraceJson, WhatIsBrokenIsSaidWithItsPlace) {
  EXPECT_EQ(about([](Json& j) { j["format"] = "other"; }), "t.json: it is no trace: \"format\" is not \"heed-trace\"");
  EXPECT_EQ(about([](Json& j) { j["version"] = 3; }), "t.json: its version is 3, and this program knows 1 to 2");
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
  EXPECT_EQ(message(std::string(1'000'000, '[')), "t.json: it is nested deeper than 16 levels");
}

TEST(TraceJson, UnknownFieldsArePassedOver) {
  Json json = Json::parse(to_json(small_trace()));
  json["later"] = {1, 2, 3};
  json["source"]["tokens"][0]["tag"] = "DET";
  EXPECT_EQ(to_json(trace_from_json(json.dump())), to_json(small_trace()));
}

TEST(TraceJson, VersionOneStaysAsItWasWritten) {
  // Written before there were axes, by a model of the demo.
  const std::string written = read_file(HEED_SOURCE_DIR "/tests/trace/data/version1.json");
  const Trace trace = trace_from_json(written);
  EXPECT_EQ(to_json(trace) + "\n", written);
  EXPECT_EQ(trace.job, "translation");
  ASSERT_EQ(trace.axes.size(), 2u);
  EXPECT_EQ(trace.axes[0].name + " " + trace.axes[1].name, "source target");
  EXPECT_EQ(trace.axis("source").text.text, "a small house");
  EXPECT_EQ(trace.row_axis().size(), 8);
  EXPECT_EQ(trace.column_axis().size(), 4);
  EXPECT_EQ(trace.alignment.shape(), (Shape{8, 4}));
}

TEST(TraceJson, VersionTwoHasAxesOfEveryKind) {
  const std::vector<Trace> traces = traces_of_version_2();
  ASSERT_EQ(traces.size(), 3u);
  std::string again;
  for (const Trace& trace : traces) again += to_json(trace) + "\n";
  const std::string written = read_file(HEED_SOURCE_DIR "/tests/trace/data/version2.json");
  EXPECT_EQ(again, written);

  const Trace& entailment = traces[0];
  EXPECT_EQ(entailment.job, "entailment");
  EXPECT_EQ(entailment.output().kind, Kind::label);
  EXPECT_EQ(entailment.output().text.tokens.at(0).text, "entailment");
  EXPECT_EQ(entailment.row_axis().name, "hypothesis");
  EXPECT_EQ(entailment.alignment.shape(), (Shape{4, 7}));
  EXPECT_EQ(entailment.choices.at(1).label, "neutral");
  EXPECT_EQ(entailment.choices.at(1).probability, 0.075);
  EXPECT_EQ(entailment.trust.at(0).random_comprehensiveness, 0.11);
  EXPECT_EQ(entailment.attentions.at(0).rows, "label");

  const TraceAxis& image = traces[1].axis("image");
  EXPECT_EQ(image.kind, Kind::image);
  EXPECT_EQ(image.size(), 12);
  EXPECT_TRUE(is_preview(image.preview));
  const TraceAxis& sound = traces[2].axis("sound");
  EXPECT_EQ(sound.size(), 6);
  EXPECT_EQ(sound.frames.step, 0.04);
}

TEST(TraceJson, IsOfTheOldestVersionThatHoldsTheTrace) {
  const auto version = [](const Trace& trace) { return Json::parse(to_json(trace))["version"].get<int>(); };
  Trace trace = small_trace();
  EXPECT_FALSE(Json::parse(to_json(trace)).contains("job"));
  trace.job = "summarisation";
  EXPECT_EQ(version(trace), 1);
  EXPECT_EQ(trace_from_json(to_json(trace)).job, "summarisation");
  Trace within = trace;  // an attention of the source to itself
  within.rows = "source", within.alignment = Tensor(Shape{4, 4}, Real{0.25F}), within.trust.clear();
  Trace document = trace, chosen = trace, third = trace, renamed = trace;
  document.axes[0].kind = Kind::document;
  chosen.choices = {{"yes", 1}};
  third.axes.insert(third.axes.begin(), {.name = "image", .kind = Kind::image, .rows = 2, .columns = 2});
  renamed.axes[0].name = renamed.columns = "question";
  renamed.attentions.clear();
  for (const Trace& other : {within, document, chosen, third, renamed}) {
    EXPECT_EQ(version(other), 2);
    EXPECT_EQ(to_json(trace_from_json(to_json(other))), to_json(other));
  }
}

TEST(TraceJson, OfASoundHasWhatIsHeardAndWhen) {
  Trace trace = traces_of_version_2().at(2);
  trace.axis("sound").waveform = {0, 0.125, 1};
  trace.axis("sound").playable = "data:audio/wav;base64,UklGRg==";
  const Json json = Json::parse(to_json(trace));
  const std::vector<std::string> words{json["times"]["words"][0]["text"], json["times"]["words"][1]["text"]};
  EXPECT_EQ(words, (std::vector<std::string>{"one", "two"}));
  EXPECT_LT(json["times"]["words"][0]["end"].get<double>(), json["times"]["words"][1]["end"].get<double>());
  const Trace read = trace_from_json(to_json(trace));
  EXPECT_EQ(read.axis("sound").waveform, trace.axis("sound").waveform);
  EXPECT_EQ(read.axis("sound").playable, trace.axis("sound").playable);
  EXPECT_EQ(to_json(read), to_json(trace));
  trace.axis("sound").playable = "https://example.org/a.wav";
  EXPECT_FALSE(Json::parse(to_json(trace))["axes"][0].contains("playable"));

  const auto about = [&](const char* field, const Json& value) {
    Json broken = json;
    broken["axes"][0][field] = value;
    return message_of([&] { trace_from_json(broken.dump(), "t.json"); });
  };
  EXPECT_EQ(about("waveform", {0.5, 1.5}), "t.json: axes[0].waveform[1] is 1.5, not in 0..1");
  EXPECT_EQ(about("waveform", std::vector<double>(5000, 0.0)),
            "t.json: axes[0].waveform has 5000 numbers; 4096 are allowed");
  EXPECT_EQ(about("playable", "https://example.org/a.wav"),
            "t.json: axes[0].playable must be a data: URL of a WAV file of at most 33554432 bytes");
}

TEST(TraceJson, WhatIsBrokenInAxesIsSaidWithItsPlace) {
  const auto about_axes = [](std::size_t which, const std::function<void(Json&)>& change) {
    Json json = Json::parse(to_json(traces_of_version_2().at(which)));
    change(json);
    return message_of([&] { trace_from_json(json.dump(), "t.json"); });
  };
  EXPECT_EQ(about_axes(0, [](Json& j) { j.erase("axes"); }), "t.json: axes is missing");
  EXPECT_EQ(about_axes(0, [](Json& j) { j.erase("job"); }), "t.json: job is missing");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["axes"] = Json::array(); }),
            "t.json: axes has 0 items; a trace has 1 to 16 axes");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["axes"][1]["name"] = ""; }), "t.json: axes[1].name is empty");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["axes"][1]["name"] = "premise"; }),
            "t.json: axes[1].name is \"premise\", as that of another axis is");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["axes"][1]["kind"] = "smell"; }),
            "t.json: axes[1].kind must be text, document, image, sound or label, not \"smell\"");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["axes"][2].erase("tokens"); }), "t.json: axes[2].tokens is missing");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["alignment_rows"] = "target"; }),
            "t.json: alignment_rows must be premise, hypothesis or label, not \"target\"");
  EXPECT_EQ(about_axes(0, [](Json& j) { j.erase("alignment_columns"); }), "t.json: alignment_columns is missing");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["attentions"][0]["columns"] = "source"; }),
            "t.json: attentions[0].columns must be premise, hypothesis or label, not \"source\"");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["choices"][2]["probability"] = 1.5; }),
            "t.json: choices[2].probability is 1.5, not in 0..1");
  EXPECT_EQ(about_axes(0, [](Json& j) { j["trust"]["entropy"].push_back(1); }),
            "t.json: trust.entropy has 5 items, but there are 4 tokens of the hypothesis");
  EXPECT_EQ(about_axes(1, [](Json& j) { j["axes"][0]["rows"] = 2; }),
            "t.json: alignment[0] has 12 items, but there are 8 regions of its columns");
  EXPECT_EQ(about_axes(1, [](Json& j) { j["axes"][0]["rows"] = j["axes"][0]["columns"] = 1'000'000; }),
            "t.json: axes[0] has 1000000000000 regions; 1000000 are allowed");
  EXPECT_EQ(about_axes(1, [](Json& j) { j["log_probabilities"].erase(0); }),
            "t.json: log_probabilities has 5 items, but there are 6 tokens of the caption");
  for (const char* url : {"http://example.org/a.png", "data:image/svg+xml;base64,PHN2Zz4=",
                          "data:image/png;base64,\"/><script>", "data:text/html;base64,PGI+"})
    EXPECT_EQ(about_axes(1, [&](Json& j) { j["axes"][0]["preview"] = url; }),
              "t.json: axes[0].preview must be a data: URL of a PNG, JPEG, WebP or GIF of at most 1048576 bytes");
  EXPECT_EQ(about_axes(2, [](Json& j) { j["axes"][0]["frame_margin"] = "a"; }),
            "t.json: axes[0].frame_margin must be a number");
  EXPECT_EQ(about_axes(2, [](Json& j) { j["axes"][0]["frame_seconds"] = -1; }),
            "t.json: axes[0].frame_seconds is less than 0");
  EXPECT_EQ(about_axes(2, [](Json& j) { j["axes"][0]["rows"] = 7; }),
            "t.json: alignment[0] has 6 items, but there are 7 frames of its columns");
}

// Where a value is not what a schema says; only what our schema uses.
std::vector<std::string> faults(const Json& root, const Json& schema, const Json& value, const std::string& where) {
  std::vector<std::string> found;
  const auto inside = [&](const Json& inner, const Json& of, const std::string& place) {
    const std::vector<std::string> more = faults(root, inner, of, place);
    found.insert(found.end(), more.begin(), more.end());
  };
  const auto check = [&](bool fits, const std::string& what) {
    if (!fits) found.push_back(where + " " + what);
  };
  const auto says = [&](const char* keyword) { return schema.contains(keyword); };
  if (says("$ref")) inside(root.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), value, where);
  if (says("const")) check(value == schema["const"], "const");
  if (says("enum")) check(std::ranges::find(schema["enum"], value) != schema["enum"].end(), "enum");
  if (says("type")) {
    const std::string type = schema["type"];
    check(type == "object"    ? value.is_object()
          : type == "array"   ? value.is_array()
          : type == "string"  ? value.is_string()
          : type == "boolean" ? value.is_boolean()
          : type == "integer" ? value.is_number_integer()
                              : value.is_number(),
          "is no " + type);
  }
  if (says("minimum")) check(value >= schema["minimum"], "minimum");
  if (says("maximum")) check(value <= schema["maximum"], "maximum");
  if (says("minItems")) check(value.size() >= schema["minItems"], "minItems");
  if (says("maxItems")) check(value.size() <= schema["maxItems"], "maxItems");
  if (says("minLength")) check(value.get<std::string>().size() >= schema["minLength"], "minLength");
  if (says("pattern"))
    check(std::regex_search(value.get<std::string>(), std::regex(schema["pattern"].get<std::string>())), "pattern");
  if (says("required"))
    for (const Json& name : schema["required"]) check(value.contains(name.get<std::string>()), "lacks " + name.dump());
  if (says("dependentRequired"))
    for (const auto& [name, needed] : schema["dependentRequired"].items())
      for (const Json& other : needed)
        check(!value.contains(name) || value.contains(other.get<std::string>()), "lacks " + other.dump());
  if (says("properties"))
    for (const auto& [name, inner] : schema["properties"].items())
      if (value.contains(name)) inside(inner, value[name], where + "." + name);
  if (says("items"))
    for (std::size_t i = 0; i < value.size(); ++i) inside(schema["items"], value[i], fmt::format("{}[{}]", where, i));
  if (says("allOf"))
    for (const Json& each : schema["allOf"]) inside(each, value, where);
  if (says("if")) {
    const char* branch = faults(root, schema["if"], value, where).empty() ? "then" : "else";
    if (says(branch)) inside(schema[branch], value, where);
  }
  return found;
}

TEST(TraceJson, FitsItsSchemaWhichNamesEveryField) {
  const Json schema = Json::parse(read_file(HEED_SOURCE_DIR "/docs/trace.schema.json"));
  const auto names_all = [&](const char* definition, const Json& value) {
    const Json& known = *definition ? schema["$defs"][definition]["properties"] : schema["properties"];
    for (const auto& [name, inner] : value.items()) EXPECT_TRUE(known.contains(name)) << definition << "." << name;
  };
  std::vector<Trace> traces = traces_of_version_2();
  traces.push_back(small_trace());
  traces.back().unlinked_at_end = true;
  traces.push_back(label_trace());
  for (const Trace& trace : traces) {
    const Json json = Json::parse(to_json(trace));
    EXPECT_EQ(faults(schema, schema, json, "trace"), std::vector<std::string>{});
    names_all("", json);
    if (json.contains("source")) names_all("text", json["source"]);
    for (const Json& axis : json.value("axes", Json::array())) names_all("axis", axis);
    for (const Json& choice : json.value("choices", Json::array())) names_all("choice", choice);
    for (const Json& attention : json.value("attentions", Json::array())) names_all("attention", attention);
    for (const Json& step : json.value("beam", Json::array())) names_all("hypothesis", step[0]);
    names_all("trust", json.value("trust", Json::object()));
  }
  // What the reader refuses, the schema does too.
  Json json = Json::parse(to_json(traces[1]));
  json["version"] = 1;
  EXPECT_FALSE(faults(schema, schema, json, "trace").empty());
  json["version"] = 2, json.erase("alignment_rows");
  EXPECT_EQ(faults(schema, schema, json, "trace"), std::vector<std::string>{"trace lacks \"alignment_rows\""});
}

TEST(TraceJson, SentencesOfADocumentAreKept) {
  Trace trace;
  TraceAxis document{.name = "document", .kind = Kind::document};
  document.text = {
      "a b c", {{"a", 0, 1, 0}, {"b", 2, 3, 1}, {"c", 4, 5, 2}}, {{"a", 0, 1}, {"b", 2, 3}, {"c", 4, 5}}, {2, 3}};
  TraceAxis label{.name = "label", .kind = Kind::label};
  label.text = {"x", {{"x", 0, 1, 0}}, {{"x", 0, 1}}};
  trace.axes = {document, label};
  const std::string json = to_json(trace);
  EXPECT_NE(json.find(R"("sentence_ends":[2,3])"), std::string::npos);
  EXPECT_EQ(trace_from_json(json, "here").axes[0].text.sentence_ends, (std::vector<Index>{2, 3}));
  for (const auto& [from, to] :
       {std::pair{"[2,3]", "[2,2]"}, std::pair{"[2,3]", "[0,3]"}, std::pair{"[2,3]", "[2,4]"}}) {
    std::string wrong = json;
    wrong.replace(wrong.find(from), 5, to);
    EXPECT_NE(message_of([&] { trace_from_json(wrong, "here"); }).find("sentence_ends"), std::string::npos) << to;
  }
}

}  // namespace
}  // namespace heed::test
