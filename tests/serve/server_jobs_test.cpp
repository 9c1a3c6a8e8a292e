#include <gtest/gtest.h>

#include <algorithm>

#include "heed/metrics/tokens.h"
#include "serve/server_fixture.h"
#include "support/tiny_bundle.h"

// What the models of a server give over HTTP, job by job, in every form that clients ask for.

namespace heed {
namespace {

using test::HttpAnswer;
using Json = nlohmann::json;

class ServerJobs : public test::ServerTest {};

TEST_F(ServerJobs, ModelsAreListedAndDescribed) {
  start();
  const Json models = get("/models").json().at("models");
  ASSERT_EQ(models.size(), 2u);
  Json first = models[0];
  EXPECT_GT(first.at("parameters"), 1000);
  first.erase("parameters");
  const Json normalisers = first.at("normalisers");
  EXPECT_NE(std::find(normalisers.begin(), normalisers.end(), "sparsemax"), normalisers.end());
  EXPECT_EQ(std::find(normalisers.begin(), normalisers.end(), "softmax"), normalisers.end());
  first.erase("normalisers");
  EXPECT_EQ(first, Json::parse(R"({"name": "demo", "job": "translation", "verb": "translate", "system": "rnnsearch",
      "attention": "additive × global × softmax", "inputs": [{"name": "source", "kind": "text"}],
      "output": {"name": "target", "kind": "text"}, "attentions": [
      {"name": "decoder.source", "layer": 1, "heads": 1, "rows": "target", "columns": "source"}]})"));
  EXPECT_EQ(models[1].at("attentions").size(), 5u);
  EXPECT_EQ(models[1].at("attentions")[0].at("heads"), 2);
  EXPECT_EQ(models[1].at("attention"), "");
  for (const char* unknown : {"normalisers", "languages", "example", "labels"})
    EXPECT_FALSE(models[1].contains(unknown)) << unknown;
  EXPECT_EQ(get("/v2/models/demo").json(), Json::parse(R"({"name": "demo", "versions": ["1"],
      "platform": "heed_rnnsearch", "inputs": [{"name": "source", "datatype": "BYTES", "shape": [-1]}],
      "outputs": [{"name": "target", "datatype": "BYTES", "shape": [-1]}], "parameters": {"job": "translation"}})"));
  EXPECT_EQ(get("/v2/models/other/ready").json(), (Json{{"name", "other"}, {"ready", true}}));
  EXPECT_EQ(get("/v2/models/othr").status, 404);
  EXPECT_EQ(get("/v2/models/othr").error(), "there is no model othr; did you mean other?");
}

TEST_F(ServerJobs, TranslatesAsTheRunnerDoes) {
  start();
  const std::vector<std::string> lines{"a b c", "d", "j i h g"};
  const auto expected = run("demo", lines);
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(post("/translate", {{"q", lines[i]}}).json(), (Json{{"translatedText", expected[i].front().text}}));
  const Json list = post("/translate", {{"q", lines}, {"alternatives", 2}}).json();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(list.at("translatedText")[i], expected[i].front().text);
    EXPECT_EQ(list.at("alternatives")[i].size(), 2u);
  }
  // A text's lines are translated one by one, empty ones stay.
  EXPECT_EQ(post("/translate", {{"q", "a b c\n\nd"}}).json().at("translatedText"),
            expected[0].front().text + "\n\n" + expected[1].front().text);
  EXPECT_EQ(post("/translate", {{"q", ""}}).json().at("translatedText"), "");
  EXPECT_EQ(post("/translate", {{"q", Json::array()}}).json().at("translatedText"), Json::array());
  EXPECT_EQ(client()
                .post("/translate", std::string("q=a+b+c"), {{"Content-Type", "application/x-www-form-urlencoded"}})
                .json()
                .at("translatedText"),
            expected[0].front().text);
}

// A request of KServe with one tensor of texts.
Json infer_of(const std::string& name, const std::vector<std::string>& texts) {
  return {{"id", "x"},
          {"inputs", {{{"name", name}, {"datatype", "BYTES"}, {"shape", {texts.size()}}, {"data", texts}}}}};
}

TEST_F(ServerJobs, InfersTensorsByTheJobsNamesOrTheOlderOnes) {
  start();
  const std::vector<std::string> lines{"a b c", "d", "j i h g"};
  const auto expected = run("demo", lines);
  for (const auto& [input, output] : {std::pair("text", "translation"), std::pair("source", "target")}) {
    const Json infer = post("/v2/models/demo/infer", infer_of(input, lines)).json();
    EXPECT_EQ(infer.at("id"), "x");
    ASSERT_EQ(infer.at("outputs").size(), 1u);
    EXPECT_EQ(infer.at("outputs")[0].at("name"), output);
    EXPECT_EQ(infer.at("outputs")[0].at("shape"), Json::array({3}));
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(infer.at("outputs")[0].at("data")[i], expected[i].front().text);
  }
  // By the older names a text's lines are translated one by one.
  EXPECT_EQ(post("/v2/models/demo/infer", infer_of("text", {"a b c\n\nd"})).json().at("outputs")[0].at("data")[0],
            expected[0].front().text + "\n\n" + expected[1].front().text);
  EXPECT_EQ(post("/v2/models/demo/infer", infer_of("sorce", {"a"})).error(),
            "translation has no input sorce; did you mean source?");
  EXPECT_EQ(post("/v2/models/demo/infer", infer_of("sorce", {"a"})).status, 400);
  Json other = infer_of("source", {"a"});
  other["outputs"] = {{{"name", "translation"}}};
  EXPECT_EQ(post("/v2/models/demo/infer", other).status, 400);
}

TEST_F(ServerJobs, TensorsMayBeBytesBothWays) {
  start();
  const std::string expected = run("demo", {"a b c"}).front().front().text;
  const std::string json = R"({"inputs": [{"name": "source", "datatype": "BYTES", "shape": [1],
      "parameters": {"binary_data_size": 9}}], "parameters": {"binary_data_output": true}})";
  const std::string bytes = std::string("\5\0\0\0", 4) + "a b c";
  const auto ask = [&](const std::string& body, const std::string& length) {
    return client().post("/v2/models/demo/infer", body, {{"Inference-Header-Content-Length", length}});
  };
  const auto text_in = [&](const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.headers.at("Content-Type"), "application/octet-stream");
    const std::size_t length = std::stoul(answer.headers.at("Inference-Header-Content-Length"));
    const Json output = Json::parse(answer.body.substr(0, length)).at("outputs")[0];
    EXPECT_EQ(output.at("name"), "target");
    EXPECT_EQ(output.at("parameters").at("binary_data_size"), answer.body.size() - length);
    EXPECT_EQ(answer.body.substr(length, 4), std::string(1, static_cast<char>(expected.size())) + std::string(3, '\0'));
    return answer.body.substr(length + 4);
  };
  EXPECT_EQ(text_in(ask(json + bytes, std::to_string(json.size()))), expected);
  EXPECT_EQ(text_in(ask("a b c", "0")), expected);
  EXPECT_EQ(ask(json + bytes + "x", std::to_string(json.size())).status, 400);
  EXPECT_EQ(ask(json, std::to_string(json.size())).status, 400);
  EXPECT_EQ(ask(json, "100000").status, 400);
  EXPECT_EQ(ask("\xff", "0").error(), "source is not valid UTF-8");
}

TEST_F(ServerJobs, ModelsOfSeveralJobsAreServedTogether) {
  const std::filesystem::path one = test::make_rnnsearch(folder_.path(), "one"),
                              brief = test::make_rnnsearch(folder_.path(), "brief", "summarisation",
                                                           R"({"example": ["a b c d"]})");
  ServerOptions options;
  options.service.threads = 1;
  server_.emplace(std::vector<ModelSource>{{"one", one}, {"brief", brief}}, options);
  const Json models = get("/models").json().at("models");
  EXPECT_EQ(models[1].at("job"), "summarisation");
  EXPECT_EQ(models[1].at("verb"), "summarise");
  EXPECT_EQ(models[1].at("inputs"), Json::parse(R"([{"name": "text", "kind": "text"}])"));
  EXPECT_EQ(models[1].at("output").at("name"), "summary");
  EXPECT_EQ(models[1].at("example"), Json::array({"a b c d"}));
  EXPECT_EQ(get("/v2/models/brief").json().at("parameters"),
            Json::parse(R"({"job": "summarisation", "example": ["a b c d"]})"));
  const auto translated = run("one", {"a b"}), summarised = run("brief", {"a b", "c d e"});
  EXPECT_EQ(post("/translate", {{"q", "a b"}}).json().at("translatedText"), translated[0].front().text);
  const Json outputs = post("/summarise", {{"texts", {"a b", "c d e"}}}).json().at("outputs");
  ASSERT_EQ(outputs.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(outputs[i].at("text"), summarised[i].front().text);
    EXPECT_NEAR(outputs[i].at("score").get<double>(), summarised[i].front().score, 1e-4);
    EXPECT_NEAR(outputs[i].at("log_probability").get<double>(), summarised[i].front().log_probability, 1e-4);
  }
  EXPECT_EQ(post("/summarise", {{"text", "a b"}, {"model", "brief"}}).json().at("outputs")[0].at("text"),
            summarised[0].front().text);
  const Json trace = post("/explain", {{"model", "brief"}, {"inputs", {{"text", "a b"}}}}).json();
  EXPECT_EQ(trace.at("job"), "summarisation");
  EXPECT_EQ(trace.at("axes").back().at("text"), summarised[0].front().text);
  const Json inferred = post("/v2/models/brief/infer", infer_of("text", {"a b"})).json().at("outputs")[0];
  EXPECT_EQ(inferred.at("name"), "summary");
  EXPECT_EQ(inferred.at("data")[0], summarised[0].front().text);
  EXPECT_EQ(post("/summarise", {{"texst", "a"}}).error(), "summarisation has no input texst; did you mean text?");
  EXPECT_EQ(post("/summarise", {{"texst", "a"}}).status, 400);
  EXPECT_EQ(post("/summarise", Json::object()).error(), "the input text is missing");
  EXPECT_EQ(post("/explain", {{"model", "one"}, {"inputs", {{"premise", "a"}}}}).status, 400);
  EXPECT_EQ(post("/summarise", {{"text", "a"}, {"model", "one"}}).error(),
            "one is for translation, not for summarisation");
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"model", "brief"}}).status, 400);
}

TEST_F(ServerJobs, SummariesHaveHuggingFacesShape) {
  const std::filesystem::path one = test::make_rnnsearch(folder_.path(), "one"),
                              brief = test::make_rnnsearch(folder_.path(), "brief", "summarisation");
  ServerOptions options;
  options.service.threads = 1;
  server_.emplace(std::vector<ModelSource>{{"one", one}, {"brief", brief}}, options);
  const auto summarised = run("brief", {"a b", "c d e"});
  EXPECT_EQ(post("/summarization", {{"inputs", "a b"}}).json(),
            Json::array({{{"summary_text", summarised[0].front().text}}}));
  EXPECT_EQ(
      post("/summarization", {{"inputs", {"a b", "c d e"}}, {"parameters", Json::object()}}).json(),
      Json::array({{{"summary_text", summarised[0].front().text}}, {{"summary_text", summarised[1].front().text}}}));
  const auto words = [](const Json& answer) {
    return split_words(answer.at(0).at("summary_text").get<std::string>()).size();
  };
  EXPECT_LE(words(post("/summarization", {{"inputs", "a b"}, {"parameters", {{"max_length", 1}}}}).json()), 1u);
  EXPECT_GE(words(post("/summarization", {{"inputs", "a b"}, {"parameters", {{"min_length", 7}}}}).json()), 7u);
  EXPECT_EQ(post("/summarization", {{"inputs", "a b"}, {"model", "one"}}).status, 400);
  for (const Json& bad : {Json::object(), Json{{"inputs", 3}}, Json{{"inputs", Json::array()}}, Json{{"inputs", " "}},
                          Json{{"inputs", {"a", ""}}}, Json{{"inputs", "a"}, {"parameters", 1}},
                          Json{{"inputs", "a"}, {"parameters", {{"max_length", 0}}}},
                          Json{{"inputs", "a"}, {"parameters", {{"max_length", 2}, {"min_length", 3}}}}})
    EXPECT_EQ(post("/summarization", bad).status, 400) << bad;
}

TEST_F(ServerJobs, AJobWithoutAModelIsNotThere) {
  start();
  EXPECT_EQ(post("/summarise", {{"text", "a"}}).status, 404);
  EXPECT_EQ(post("/summarise", {{"text", "a"}}).error(),
            "no model here is for summarisation; GET /models lists those there are");
}

TEST_F(ServerJobs, ModelsWithLanguagesAreChosenByThem) {
  ServerOptions options;
  options.service.threads = 1;
  const std::filesystem::path one = test::make_rnnsearch(folder_.path(), "one"),
                              brief = test::make_rnnsearch(folder_.path(), "brief", "summarisation");
  server_.emplace(
      std::vector<ModelSource>{{"en-de", one}, {"french", one, {"fr", "it"}}, {"plain", one}, {"es-pt", brief}},
      options);
  EXPECT_EQ(get("/languages").json(), Json::parse(R"([{"code": "en", "name": "en", "targets": ["de"]},
                                                      {"code": "fr", "name": "fr", "targets": ["it"]}])"));
  EXPECT_EQ(get("/models").json().at("models")[1].at("languages"), Json::array({"fr", "it"}));
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"source", "fr"}, {"target", "it"}}).status, 200);
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"source", "auto"}, {"target", "it"}}).json().at("detectedLanguage"),
            (Json{{"confidence", 100}, {"language", "fr"}}));
  const auto refused = [&](const char* source, const char* target) {
    const HttpAnswer answer = post("/translate", {{"q", "a"}, {"source", source}, {"target", target}});
    EXPECT_EQ(answer.status, 400);
    return answer.error();
  };
  EXPECT_EQ(refused("xx", "de"), "xx is not supported");
  EXPECT_EQ(refused("auto", "xx"), "xx is not supported");
  EXPECT_EQ(refused("de", "en"), "de is not supported");
  EXPECT_EQ(refused("es", "pt"), "es is not supported");
  EXPECT_EQ(refused("en", "it"), "it is not available as a target language from en");
}

TEST_F(ServerJobs, LanguagesThatNobodyKnowsAreNotMadeUp) {
  start();
  EXPECT_EQ(get("/languages").json(), Json::array());
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "de"}}).error(), "en is not supported");
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"target", "de"}}).status, 400);
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"source", "auto"}}).status, 200);
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"source", "en"}, {"model", "demo"}}).status, 200);
  const HttpAnswer detected = post("/detect", {{"q", "a"}});
  EXPECT_EQ(detected.status, 501);
  EXPECT_EQ(detected.error(), "this server does not detect languages; GET /languages lists those of its models");
}

// Hugging Face's question answering.
TEST_F(ServerJobs, AnswersAreWordsOfTheContextWithTheirPlaces) {
  test::make_tiny_folder(folder_.path() / "reader", {.system = "aoa"});
  server_.emplace(std::vector<ModelSource>{{"reader", folder_.path() / "reader"}}, ServerOptions{});
  const std::string context = "the cat sleeps near the old house";
  const Json question{{"question", "the _ sleeps"}, {"context", context}};
  const Json one = post("/answer", {{"inputs", question}}).json();
  EXPECT_EQ(context.substr(one.at("start"),
                           static_cast<std::size_t>(one.at("end")) - static_cast<std::size_t>(one.at("start"))),
            one.at("answer"));
  EXPECT_GT(one.at("score"), 0);
  EXPECT_EQ(post("/answer", question).json(), one);
  EXPECT_EQ(post("/answer", {{"inputs", {question, question}}}).json(), (Json{one, one}));
  EXPECT_EQ(post("/answer", {{"inputs", question}, {"parameters", {{"top_k", 3}}}}).json().size(), 3U);
  Json given = question;
  given["choices"] = {"dog"};
  EXPECT_EQ(post("/answer", given).json(),
            Json::parse(R"({"answer": "dog", "score": 1.0, "start": null, "end": null})"));

  const auto error = [&](const char* name, const Json& value) {
    Json wrong = question;
    wrong[name] = value;
    const HttpAnswer answer = post("/answer", wrong);
    return fmt::format("{} {}", answer.status, answer.error());
  };
  EXPECT_EQ(error("question", "who"), "400 question: the question has no blank, such as XXXXX");
  EXPECT_EQ(error("question", "_ or _"), "400 question: the question has several blanks");
  EXPECT_EQ(error("context", " "), "422 context is empty: nothing to answer from");
  EXPECT_EQ(error("choices", {"a", "a"}), "400 choices has a twice");
  EXPECT_EQ(error("choices", "a"), "400 choices must be a list of texts, not a text");

  Json looked{{"inputs", {{"document", context}, {"question", "the _ sleeps"}}},
              {"choices", {"cat", "dog", "old house"}}};
  const Json trace = post("/explain", looked).json();
  EXPECT_EQ(trace.at("choices").size(), 3U);
  EXPECT_EQ(trace.at("axes").back().at("text"), trace.at("choices")[0].at("label"));
  looked["target"] = "old house";
  EXPECT_EQ(post("/explain", looked).json().at("axes").back().at("text"), "old house");
  looked["target"] = "mouse";
  EXPECT_EQ(post("/explain", looked).status, 422);
  looked["choices"] = {"cat", "cat"};
  EXPECT_EQ(post("/explain", looked).error(), "choices has cat twice");
  looked["choices"] = {"cat", " "};
  EXPECT_EQ(post("/explain", looked).error(), "choices has an empty text");
  looked["choices"] = "cat";
  EXPECT_EQ(post("/explain", looked).status, 400);

  const Json infer{{"inputs",
                    {{{"name", "document"}, {"datatype", "BYTES"}, {"shape", {1}}, {"data", {context}}},
                     {{"name", "question"}, {"datatype", "BYTES"}, {"shape", {1}}, {"data", {"the _ sleeps"}}}}}};
  const Json outputs = post("/v2/models/reader/infer", infer).json().at("outputs");
  EXPECT_EQ(outputs[0].at("name"), "answer");
  EXPECT_EQ(outputs[0].at("data")[0], one.at("answer"));
  EXPECT_EQ(outputs[1].at("name"), "probability");
}

}  // namespace
}  // namespace heed
