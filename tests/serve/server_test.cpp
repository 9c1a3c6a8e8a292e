#include "heed/serve/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "heed/serve/routes.h"
#include "serve/running_server.h"
#include "support/messages.h"

// HTTP against the real server on loopback.

namespace heed {
namespace {

using test::HttpAnswer;
using test::HttpClient;
using test::RunningServer;
using Json = nlohmann::json;

class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.service.threads = 1;
    server_.emplace(std::vector<ModelSource>{{"demo", test::make_rnnsearch(folder_.path(), "demo")},
                                             {"other", test::make_transformer(folder_.path(), "other")}},
                    std::move(options));
  }
  HttpClient client() const { return HttpClient(server_->port()); }
  HttpAnswer get(const std::string& target, const test::HttpHeaders& headers = {}) const {
    return client().get(target, headers);
  }
  HttpAnswer post(const std::string& target, const Json& body, const test::HttpHeaders& headers = {}) const {
    return client().post(target, body, headers);
  }
  // What the model of the folder gives, without a server.
  std::vector<std::vector<Result>> run(const std::string& model, const std::vector<std::string>& texts) const {
    Runner runner({folder_.path() / model}, 1, [](const std::string&) {});
    std::vector<Sample> samples;
    for (const std::string& text : texts) samples.push_back(sample_of({text}));
    return runner.run(samples);
  }
  // A request that keeps the model busy for a while: many long texts.
  static Json heavy() {
    std::string text;
    for (int i = 0; i < 8; ++i) text += "a b c d e ";
    return {{"q", std::vector<std::string>(64, text)}};
  }

  TemporaryFolder folder_;
  std::optional<RunningServer> server_;
};
class ServerLimits : public ServerTest {};
class ServerAccess : public ServerTest {};
class ServerStreams : public ServerTest {};

TEST_F(ServerTest, Health) {
  start();
  HttpClient one = client();  // one connection for all
  EXPECT_EQ(one.get("/v2/health/live").json(), (Json{{"live", true}}));
  EXPECT_EQ(one.get("/v2/health/ready").json(), (Json{{"ready", true}}));
  EXPECT_EQ(one.get("/v2").json().at("name"), "heed");
  EXPECT_EQ(one.get("/v2").json().at("extensions"), Json::array({"binary_tensor_data"}));
  const HttpAnswer head = one.ask("HEAD", "/v2/health/live", "");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("Content-Length"), "14");
  EXPECT_TRUE(one.get("/v2/health/live").keep_alive);
}

TEST_F(ServerTest, ModelsAreListedAndDescribed) {
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

TEST_F(ServerTest, DocumentsAndThePage) {
  start();
  EXPECT_EQ(get("/openapi.json").json().at("openapi"), "3.1.0");
  EXPECT_EQ(get("/trace.schema.json").json().at("title"), "Heed trace");
  const HttpAnswer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("X-Content-Type-Options"), "nosniff");
  const HttpAnswer missing = get("/etc/passwd");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.headers.at("Content-Type"), "application/json; charset=utf-8");
  const HttpAnswer wrong = get("/translate");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("Allow"), "POST");
}

TEST_F(ServerTest, TranslatesAsTheRunnerDoes) {
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

TEST_F(ServerTest, InfersTensorsByTheJobsNamesOrTheOlderOnes) {
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

TEST_F(ServerTest, TensorsMayBeBytesBothWays) {
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

TEST_F(ServerTest, ModelsOfSeveralJobsAreServedTogether) {
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

TEST_F(ServerTest, AJobWithoutAModelIsNotThere) {
  start();
  EXPECT_EQ(post("/summarise", {{"text", "a"}}).status, 404);
  EXPECT_EQ(post("/summarise", {{"text", "a"}}).error(),
            "no model here is for summarisation; GET /models lists those there are");
}

TEST_F(ServerTest, ModelsWithLanguagesAreChosenByThem) {
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

TEST_F(ServerTest, LanguagesThatNobodyKnowsAreNotMadeUp) {
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

TEST_F(ServerTest, ExplainsWhatItSearchedAndWhatItIsGiven) {
  start();
  const Json trace = post("/explain", {{"text", "a b c"}, {"alternatives", true}}).json();
  EXPECT_EQ(trace.at("format"), "heed-trace");
  EXPECT_EQ(trace.at("model"), "demo");
  EXPECT_EQ(trace.at("source").at("tokens").size(), 4u);
  EXPECT_EQ(trace.at("alignment").size(), trace.at("target").at("tokens").size());
  EXPECT_EQ(trace.at("alignment")[0].size(), 4u);
  EXPECT_FALSE(trace.at("beam").empty());
  EXPECT_EQ(trace.at("target").at("text"), post("/translate", {{"q", "a b c"}}).json().at("translatedText"));
  const Json forced =
      post("/explain", {{"text", "a b"}, {"target", "c d e"}, {"model", "other"}, {"attentions", true}}).json();
  EXPECT_EQ(forced.at("target").at("text"), "c d e");
  EXPECT_EQ(forced.at("attentions").size(), 5u);
  EXPECT_EQ(forced.at("system"), "transformer");
}

TEST_F(ServerTest, MeasuresTrustWhenAsked) {
  start();
  EXPECT_FALSE(post("/explain", {{"text", "a b c"}}).json().contains("trust"));
  const Json trace = post("/explain", {{"text", "a b c"}, {"target", "d e"}, {"trust", true}}).json(),
             trust = trace.at("trust");
  EXPECT_EQ(trust.at("entropy").size(), trace.at("target").at("tokens").size());
  for (const char* agreement : {"gradient_agreement", "leave_one_out_agreement"})
    EXPECT_LE(std::abs(trust.at(agreement).get<double>()), 1) << agreement;
  for (const char* change : {"comprehensiveness", "sufficiency"})
    EXPECT_LT(std::abs(trust.at(change).get<double>()), 1) << change;
  std::string many = "a";
  for (int i = 0; i < 100; ++i) many += " a";
  EXPECT_EQ(post("/explain", {{"text", many}, {"target", "a"}, {"trust", true}}).status, 422);
}

TEST_F(ServerTest, AnotherNormaliserMakesAnotherTrace) {
  start();
  const auto weights = [&](const Json& body) { return post("/explain", body).json().at("alignment"); };
  const Json soft = weights({{"text", "a b c"}, {"target", "d"}});
  EXPECT_NE(weights({{"text", "a b c"}, {"target", "d"}, {"normaliser", "sparsemax"}}), soft);
  EXPECT_EQ(weights({{"text", "a b c"}, {"target", "d"}, {"normaliser", "softmax"}}), soft);
  for (const char* name : {"nonsense", "../../etc/passwd"}) {
    const HttpAnswer refused = post("/explain", {{"text", "a"}, {"normaliser", name}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_TRUE(refused.error().starts_with("normaliser: there is no normaliser ")) << refused.body;
  }
  EXPECT_EQ(post("/explain", {{"text", "a"}, {"model", "other"}, {"normaliser", "sparsemax"}}).error(),
            "normaliser: transformer has no normaliser that can be exchanged");
}

TEST_F(ServerTest, TextOfAnyKindIsTextAndComesBackAsText) {
  start();
  for (const char* text : {"<script>alert(1)</script> &amp;", "سلام a", "🙂 👩‍👩‍👧 a",
                           "\x01\x02\x1b[31m a\x7f", "\u202e a \u200b", "a\"b\\c", "\t", "'; DROP TABLE a; --"}) {
    const HttpAnswer translated = post("/translate", {{"q", text}});
    EXPECT_EQ(translated.status, 200) << text << translated.body;
    EXPECT_EQ(translated.headers.at("Content-Type"), "application/json; charset=utf-8");
    if (std::string_view(text) == "\t") continue;
    const HttpAnswer explained = post("/explain", {{"text", text}});
    ASSERT_EQ(explained.status, 200) << text << explained.body;
    EXPECT_EQ(explained.json().at("source").at("text"), text);
  }
  const std::string nul("a\0b", 3);
  EXPECT_EQ(post("/explain", {{"text", nul}}).json().at("source").at("text"), nul);
}

TEST_F(ServerTest, BadRequestsAreRefusedAndHarmNobody) {
  start();
  EXPECT_EQ(client().post("/translate", std::string("{\"q\": ")).status, 400);
  EXPECT_EQ(client().post("/translate", std::string("{\"q\": \"\xff\"}")).status, 400);
  EXPECT_EQ(post("/translate", {{"q", 5}}).status, 400);
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"model", "none"}}).status, 404);
  EXPECT_EQ(post("/explain", {{"text", "a"}, {"beam", "wide"}}).error(), "beam must be a whole number, not a text");
  EXPECT_EQ(client().ask("BREW", "/translate", "").status, 405);
  HttpClient nonsense = client();
  nonsense.write("\x16\x03\x01\x02 this is no HTTP\r\n\r\n");
  EXPECT_EQ(nonsense.read().status, 400);
  EXPECT_TRUE(nonsense.closed());
  EXPECT_EQ(get("/v2/health/live").status, 200);
  // One bad text does not spoil its neighbours' batch.
  EXPECT_EQ(post("/translate", {{"q", "a b"}}).status, 200);
}

TEST_F(ServerTest, RequestsMayFollowEachOtherAtOnce) {
  start();
  HttpClient one = client();
  const std::string ask = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
  one.write(ask + ask + "GET /v2/health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(one.read().json(), (Json{{"live", true}}));
  EXPECT_EQ(one.read().json(), (Json{{"live", true}}));
  EXPECT_EQ(one.read().json(), (Json{{"ready", true}}));
  EXPECT_TRUE(one.closed());
  HttpClient old = client();
  old.write("GET /v2/health/live HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.read().status, 200);
  EXPECT_TRUE(old.closed());
  HttpClient careful = client();
  careful.write("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(careful.read().status, 100);
  careful.write("{\"q\": \"a\"}");
  EXPECT_EQ(careful.read().status, 200);
}

TEST_F(ServerTest, CountsAndLogsWhatItDid) {
  start();
  post("/translate", {{"q", "a b c"}});
  post("/explain", {{"text", "secret words"}});
  get("/nothing/here");
  // A batch is counted when all of it is answered, which is after the last answer.
  std::string text;
  std::size_t asked = 0;
  while (asked < 500 && text.find("heed_batch_requests_count 2\n") == std::string::npos) {
    if (++asked > 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    text = get("/metrics").body;
  }
  for (const char* line : {"heed_requests_total{route=\"/translate\",status=\"200\"} 1\n",
                           "heed_requests_total{route=\"(none)\",status=\"404\"} 1\n", "heed_sentences_total 2\n",
                           "heed_batch_requests_count 2\n", "heed_queue_length 0\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  server_->stop();
  const std::vector<std::string> log = server_->log();
  ASSERT_EQ(log.size(), 3 + asked);
  EXPECT_TRUE(log[0].starts_with("127.0.0.1 POST /translate 200 ")) << log[0];
  EXPECT_TRUE(log[2].starts_with("127.0.0.1 GET (none) 404 ")) << log[2];
  for (const std::string& line : log) EXPECT_EQ(line.find("secret"), std::string::npos) << line;
}

TEST_F(ServerLimits, LargeBodiesAndHeaders) {
  start({.longest_body = 1000});
  const HttpAnswer large = post("/translate", {{"q", std::string(2000, 'a')}});
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(large.error(), "the body is larger than 1000 bytes");
  EXPECT_FALSE(large.keep_alive);
  // Far more than the sockets hold: the answer must come all the same.
  EXPECT_EQ(client().post("/translate", std::string(50'000'000, ' ')).status, 413);
  HttpClient chunked = client();
  chunked.write("POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  chunked.write("7d0\r\n" + std::string(2000, ' ') + "\r\n");
  EXPECT_EQ(chunked.read().status, 413);
  const HttpAnswer header = get("/models", {{"X-Long", std::string(10'000, 'x')}});
  EXPECT_EQ(header.status, 431);
  EXPECT_EQ(get("/v2/health/live").status, 200);
}

TEST_F(ServerLimits, LongTexts) {
  ServerOptions options;
  options.service.limits.text = 10;
  options.service.work.longest_input = 3;
  start(std::move(options));
  EXPECT_EQ(post("/translate", {{"q", "a b c d e f"}}).status, 422);
  EXPECT_EQ(post("/translate", {{"q", "a b c d"}}).error(), "[translate] the input has 4 pieces; 3 are allowed");
  EXPECT_EQ(post("/explain", {{"text", "a b c d"}}).status, 422);
  EXPECT_EQ(post("/translate", {{"q", "a b c\nd"}}).status, 200);
}

TEST_F(ServerLimits, SlowClients) {
  start({.client_time = std::chrono::milliseconds(100), .idle_time = std::chrono::milliseconds(300)});
  HttpClient slow = client();
  slow.write("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Le");
  const HttpAnswer answer = slow.read();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.error(), "the request did not arrive within 0.1 s");
  HttpClient half = client();
  half.write("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"q\"");
  EXPECT_EQ(half.read().status, 408);
  HttpClient silent = client();
  EXPECT_TRUE(silent.closed());  // without a word
}

TEST_F(ServerLimits, AnswersThatTakeTooLong) {
  start({.answer_time = std::chrono::milliseconds(20)});
  HttpClient one = client();
  const HttpAnswer late = one.post("/translate", heavy());
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.error(), "this took longer than 0.02 s");
  EXPECT_EQ(one.get("/v2/health/live").status, 200);  // on the same connection
}

TEST_F(ServerLimits, AFullQueue) {
  ServerOptions options;
  options.service.batcher.queue = 1;
  start(std::move(options));
  std::vector<HttpAnswer> answers(6);
  std::vector<std::thread> clients;
  for (HttpAnswer& answer : answers) clients.emplace_back([&] { answer = post("/translate", heavy()); });
  for (std::thread& each : clients) each.join();
  int done = 0, refused = 0;
  for (const HttpAnswer& answer : answers) {
    done += answer.status == 200 ? 1 : 0;
    refused += answer.status == 429 ? 1 : 0;
    if (answer.status == 429) {
      EXPECT_EQ(answer.headers.at("Retry-After"), "1");
    }
  }
  EXPECT_GE(done, 1);
  EXPECT_GE(refused, 1);
  EXPECT_EQ(done + refused, 6);
}

TEST_F(ServerLimits, TooManyConnections) {
  start({.connections = 2});
  HttpClient one = client(), two = client();
  EXPECT_EQ(one.get("/v2/health/live").status, 200);
  EXPECT_EQ(two.get("/v2/health/live").status, 200);
  HttpClient three = client();
  EXPECT_EQ(three.read().status, 503);
  one.close(), three.close();
  int status = 0;  // the server notices a little later
  for (int tries = 0; tries < 10'000 && status != 200; ++tries) status = get("/v2/health/live").status;
  EXPECT_EQ(status, 200);
}

TEST_F(ServerAccess, ATokenIsAskedForExceptOfWhatEverybodyMaySee) {
  ServerOptions options;
  options.service.token = "s3cret";
  start(std::move(options));
  const HttpAnswer refused = post("/translate", {{"q", "a"}});
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.headers.at("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(post("/translate", {{"q", "a"}}, {{"Authorization", "Bearer s3cre"}}).status, 401);
  EXPECT_EQ(post("/translate", {{"q", "a"}}, {{"Authorization", "Basic s3cret"}}).status, 401);
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"api_key", "wrong"}}).status, 401);
  EXPECT_EQ(post("/translate", {{"q", "a"}}, {{"Authorization", "Bearer s3cret"}}).status, 200);
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"api_key", "s3cret"}}).status, 200);
  EXPECT_EQ(post("/explain", {{"text", "a"}}, {{"Authorization", "Bearer s3cret"}}).status, 200);
  for (const RouteEntry& entry : routes()) {
    std::string path = entry.path;
    if (const std::size_t name = path.find("{model}"); name != std::string::npos) path.replace(name, 7, "demo");
    const HttpAnswer answer = client().ask(entry.method, path, "{}");
    EXPECT_EQ(answer.status == 401, !entry.open) << path << answer.status;
  }
}

TEST_F(ServerAccess, PagesElsewhereNeedPermission) {
  ServerOptions options;
  options.service.origins = {"https://example.org"};
  start(std::move(options));
  const auto from = [&](const char* origin) { return post("/translate", {{"q", "a"}}, {{"Origin", origin}}); };
  EXPECT_EQ(from("https://evil.example").status, 403);
  EXPECT_EQ(from("null").status, 403);
  EXPECT_EQ(from("http://localhost").status, 200);  // the client's host: the server's own page
  const HttpAnswer allowed = from("https://example.org");
  EXPECT_EQ(allowed.status, 200);
  EXPECT_EQ(allowed.headers.at("Access-Control-Allow-Origin"), "https://example.org");
  const HttpAnswer asked = client().ask("OPTIONS", "/translate", "", {{"Origin", "https://example.org"}});
  EXPECT_EQ(asked.status, 204);
  EXPECT_EQ(asked.headers.at("Access-Control-Allow-Headers"), "Authorization, Content-Type");
  EXPECT_EQ(client().ask("OPTIONS", "/translate", "", {{"Origin", "https://evil.example"}}).status, 403);
}

TEST_F(ServerAccess, AForeignNameForThisMachineIsRefused) {
  start();
  const auto as = [&](const char* host) { return get("/models", {{"Host", host}}).status; };
  EXPECT_EQ(as("evil.example"), 403);
  EXPECT_EQ(as("evil.example:8080"), 403);
  EXPECT_EQ(as("127.0.0.1:1234"), 200);
  EXPECT_EQ(as("[::1]:1234"), 200);
  EXPECT_EQ(as("heed.localhost"), 200);
}

TEST_F(ServerAccess, OtherMachinesNeedAToken) {
  ServerOptions options;
  options.host = "0.0.0.0";
  const auto message = [&] { return test::message_of([&] { Server({{"demo", "none"}}, options); }); };
  EXPECT_NE(message().find("can be reached from other machines"), std::string::npos);
  options.host = "nowhere";
  EXPECT_NE(message().find("is no address"), std::string::npos);
}

TEST_F(ServerAccess, APortThatIsTakenIsSaid) {
  start();
  ServerOptions options;
  options.port = server_->port();
  const std::string message = test::message_of([&] { Server({{"demo", folder_.path() / "demo"}}, options); });
  EXPECT_NE(message.find("cannot listen at 127.0.0.1:"), std::string::npos) << message;
}

// The events of a stream: names and data.
std::vector<std::pair<std::string, Json>> events_of(const std::string& body) {
  std::vector<std::pair<std::string, Json>> events;
  std::istringstream lines(body);
  for (std::string event, data, blank; std::getline(lines, event);) {
    std::getline(lines, data);
    std::getline(lines, blank);
    EXPECT_TRUE(event.starts_with("event: ") && data.starts_with("data: ") && blank.empty()) << event << data;
    events.emplace_back(event.substr(7), Json::parse(data.substr(6)));
  }
  return events;
}

TEST_F(ServerStreams, TokensComeOneByOneAndMakeTheTrace) {
  start();
  HttpClient one = client();
  const HttpAnswer answer =
      one.post("/explain", Json{{"text", "a b c"}, {"beam", 1}}, {{"Accept", "text/event-stream"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("Content-Type"), "text/event-stream; charset=utf-8");
  const auto events = events_of(answer.body);
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(events.front().first, "source");
  EXPECT_EQ(events.front().second.at("text"), "a b c");
  EXPECT_EQ(events.back().first, "trace");
  const Json& trace = events.back().second;
  EXPECT_EQ(trace.at("target").at("tokens").size(), events.size() - 2);
  for (std::size_t i = 1; i + 1 < events.size(); ++i) {
    const Json& token = events[i].second;
    EXPECT_EQ(events[i].first, "token");
    EXPECT_EQ(token.at("step"), i - 1);
    EXPECT_EQ(token.at("draft"), false);
    EXPECT_EQ(token.at("token"), trace.at("target").at("tokens")[i - 1].at("text"));
    EXPECT_EQ(token.at("weights"), trace.at("alignment")[i - 1]);
    EXPECT_NEAR(token.at("log_probability").get<double>(), trace.at("log_probabilities")[i - 1].get<double>(), 1e-3);
  }
  EXPECT_EQ(events[events.size() - 2].second.at("text"), trace.at("target").at("text"));
  // The connection goes on; greedy search without a stream says the same.
  EXPECT_EQ(one.post("/explain", Json{{"text", "a b c"}, {"beam", 1}}).json(), trace);
}

TEST_F(ServerStreams, ADraftIsFollowedByWhatTheSearchFound) {
  start();
  const test::HttpHeaders stream{{"Accept", "text/event-stream"}};
  for (const char* model : {"demo", "other"}) {
    const Json body{{"text", "a b c"}, {"model", model}, {"attentions", true}, {"alternatives", true}};
    const auto events = events_of(post("/explain", body, stream).body);
    ASSERT_GE(events.size(), 3u);
    EXPECT_EQ(events.front().first, "source");
    Json greedy = body;
    greedy["beam"] = 1;
    const Json draft = post("/explain", greedy).json();
    EXPECT_EQ(events.size() - 2, draft.at("target").at("tokens").size());
    for (std::size_t i = 1; i + 1 < events.size(); ++i) {
      EXPECT_EQ(events[i].first, "token");
      EXPECT_EQ(events[i].second.at("draft"), true);
      EXPECT_EQ(events[i].second.at("token"), draft.at("target").at("tokens")[i - 1].at("text"));
    }
    EXPECT_EQ(events.back().first, "trace");
    EXPECT_EQ(events.back().second, post("/explain", body).json());
  }
}

TEST_F(ServerStreams, AGivenOutputHasNoDraft) {
  start();
  const Json body{{"text", "a b"}, {"target", "c d"}};
  const auto events = events_of(post("/explain", body, {{"Accept", "text/event-stream"}}).body);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].first, "source");
  EXPECT_EQ(events[1].first, "trace");
  EXPECT_EQ(events[1].second, post("/explain", body).json());
}

TEST_F(ServerStreams, FaultsBeforeTheFirstEventAreOrdinaryAnswers) {
  start();
  const test::HttpHeaders stream{{"Accept", "text/event-stream"}};
  EXPECT_EQ(post("/explain", {{"text", "a"}, {"normaliser", "none"}}, stream).status, 422);
  EXPECT_EQ(post("/explain", {{"txt", "a"}}, stream).status, 400);
  std::string many;
  for (int i = 0; i < 600; ++i) many += "a ";
  EXPECT_EQ(post("/explain", {{"text", many}}, stream).status, 422);
  HttpClient old = client();
  const std::string body = R"({"text": "a"})";
  old.write(fmt::format("POST /explain HTTP/1.0\r\nAccept: text/event-stream\r\nContent-Length: {}\r\n\r\n{}",
                        body.size(), body));
  const HttpAnswer answer = old.read();
  EXPECT_EQ(events_of(answer.body).back().first, "trace");
}

}  // namespace
}  // namespace heed
