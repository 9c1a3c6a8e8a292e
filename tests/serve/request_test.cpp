#include "heed/serve/request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/file.h"
#include "heed/serve/documents.h"

namespace heed {
namespace {

HttpRequest post(const std::string& target, const std::string& body) {
  HttpRequest request;
  request.method = "POST", request.target = target, request.body = body;
  return request;
}

HttpRequest form(const std::string& body) {
  HttpRequest request = post("/translate", body);
  request.content_type = "application/x-www-form-urlencoded; charset=utf-8";
  return request;
}

// "status words" of the HttpError that `call` throws.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const HttpError& error) {
    return fmt::format("{} {}", error.status(), error.what());
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

std::string translate_refusal(const std::string& body, const RequestLimits& limits = {}) {
  return refusal([&] { translate_request(post("/translate", body), limits); });
}
std::string explain_refusal(const std::string& body, const RequestLimits& limits = {}) {
  return refusal([&] { explain_request(post("/explain", body), limits); });
}
std::string infer_refusal(const std::string& body) {
  return refusal([&] { infer_request(post("/v2/models/m/infer", body), {}); });
}

TEST(Route, PathsAndMethods) {
  HttpRequest request;
  request.method = "GET";
  request.target = "/v2/models/my%20model/ready?verbose=1";
  EXPECT_EQ(route_of(request).entry->route, Route::model_ready);
  EXPECT_EQ(route_of(request).model, "my model");
  request.method = "HEAD", request.target = "/models";
  EXPECT_EQ(route_of(request).entry->route, Route::models);
  request.target = "/v2/models/";
  EXPECT_TRUE(refusal([&] { route_of(request); }).starts_with("404 "));
  request.target = "/v2/models/a/b/infer";
  EXPECT_TRUE(refusal([&] { route_of(request); }).starts_with("404 "));
  request.target = "/v2/models/a%2";
  EXPECT_TRUE(refusal([&] { route_of(request); }).starts_with("400 "));
  request.target = "/../etc/passwd";
  EXPECT_TRUE(refusal([&] { route_of(request); }).starts_with("404 "));
  request.method = "DELETE", request.target = "/translate";
  EXPECT_EQ(refusal([&] { route_of(request); }), "405 this path takes POST only");
}

TEST(Route, OpenApiDescribesExactlyTheRoutes) {
  const nlohmann::json document = nlohmann::json::parse(read_file(HEED_SOURCE_DIR "/docs/openapi.json"));
  EXPECT_EQ(nlohmann::json::parse(openapi_json()), document);
  std::set<std::string> described, routed;
  for (const auto& [path, methods] : document.at("paths").items())
    for (const auto& [method, operation] : methods.items())
      if (method != "parameters") described.insert(method + " " + path);
  for (const RouteEntry& entry : routes()) {
    std::string method = entry.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    routed.insert(method + " " + entry.path);
    const nlohmann::json& operation = document.at("paths").at(entry.path).at(method);
    EXPECT_EQ(operation.contains("security"), entry.open) << entry.path;
  }
  EXPECT_EQ(described, routed);
  EXPECT_EQ(routed.size(), routes().size());
}

TEST(Route, OpenApiRefersOnlyToWhatIsThere) {
  const nlohmann::json document = nlohmann::json::parse(openapi_json());
  int found = 0;
  const std::function<void(const nlohmann::json&)> walk = [&](const nlohmann::json& node) {
    if (node.is_object() && node.contains("$ref")) {
      const std::string reference = node.at("$ref").get<std::string>();
      ASSERT_TRUE(reference.starts_with("#/"));
      EXPECT_TRUE(document.contains(nlohmann::json::json_pointer(reference.substr(1)))) << reference;
      ++found;
    }
    if (node.is_structured())
      for (const nlohmann::json& child : node) walk(child);
  };
  walk(document);
  EXPECT_GT(found, 50);
}

TEST(TranslateRequest, ReadsWhatLibreTranslateSends) {
  const TranslateRequest one = translate_request(
      post("/translate", R"({"q": "a b", "source": "en", "target": "de", "format": "text", "api_key": ""})"), {});
  EXPECT_EQ(one.texts, std::vector<std::string>{"a b"});
  EXPECT_FALSE(one.list);
  EXPECT_EQ(one.source + one.target, "ende");
  const TranslateRequest many =
      translate_request(post("/translate", R"({"q": ["x", "y\u0000z"], "alternatives": 2, "secret": {}})"), {});
  EXPECT_TRUE(many.list);
  EXPECT_EQ(many.texts, (std::vector<std::string>{"x", std::string("y\0z", 3)}));
  EXPECT_EQ(many.alternatives, 2);
  EXPECT_EQ(many.source, "auto");
  const TranslateRequest sent = translate_request(form("q=a+b%20c%C3%A9&source=en&target=de&alternatives=1&"), {});
  EXPECT_EQ(sent.texts, std::vector<std::string>{"a b cé"});
  EXPECT_EQ(sent.alternatives, 1);
  EXPECT_EQ(translate_request(form(R"({"q": "JSON by curl"})"), {}).texts, std::vector<std::string>{"JSON by curl"});
  EXPECT_EQ(translate_request(form("q=1&q=2&q=3"), {}).texts, (std::vector<std::string>{"1", "2", "3"}));
}

TEST(TranslateRequest, FaultsAreExplained) {
  EXPECT_EQ(translate_refusal(""), "400 the body is empty; a JSON object is expected");
  EXPECT_TRUE(translate_refusal("{\"q\": ").starts_with("400 the body is not JSON: parse error at line 1"));
  EXPECT_TRUE(translate_refusal("{\"q\": \"\xff\"}").starts_with("400 the body is not JSON: "));
  EXPECT_TRUE(translate_refusal(R"({"q": "\ud800"})").starts_with("400 the body is not JSON: "));
  EXPECT_EQ(translate_refusal(R"({"q": 1e999})"), "400 the JSON has a number that is too large");
  EXPECT_EQ(translate_refusal("[]"), "400 the body must be a JSON object, not array");
  EXPECT_EQ(translate_refusal("{}"), "400 q is missing: the text to translate, or a list of texts");
  EXPECT_EQ(translate_refusal(R"({"q": 7})"), "400 q must be a text or a list of texts, not a whole number");
  EXPECT_EQ(translate_refusal(R"({"q": ["a", null]})"), "400 q must hold texts, not null");
  EXPECT_EQ(translate_refusal(R"({"q": "a", "alternatives": 99})"), "400 alternatives must be from 0 to 8");
  EXPECT_EQ(translate_refusal(R"({"q": "a", "alternatives": 99999999999999999999})"),
            "400 alternatives must be a whole number, not a number with a fraction");
  EXPECT_EQ(translate_refusal(R"({"q": "a", "alternatives": 18446744073709551615})"),
            "400 alternatives must be from 0 to 8");
  EXPECT_EQ(translate_refusal(R"({"q": "a", "alternatives": "2"})"),
            "400 alternatives must be a whole number, not a text");
  EXPECT_EQ(translate_refusal(R"({"q": "a", "format": "html"})"), "400 format must be text; others are not translated");
  EXPECT_EQ(translate_refusal(R"({"q": "äöü"})", {.text = 2}), "422 q has 3 characters; at most 2 are allowed");
  EXPECT_EQ(translate_refusal(R"({"q": ["a", "b"]})", {.texts = 1}), "422 q has 2 texts; at most 1 are allowed");
  EXPECT_EQ(refusal([] { translate_request(form("q=%ff"), {}); }), "400 q is not valid UTF-8");
  EXPECT_EQ(refusal([] { translate_request(form("q=%4"), {}); }), "400 '%' must be followed by two hexadecimal digits");
}

TEST(TranslateRequest, DeepNestingIsRefusedBeforeItTakesMemory) {
  const std::string deep = "{\"q\": " + std::string(500'000, '[') + std::string(500'000, ']') + "}";
  EXPECT_EQ(translate_refusal(deep), "400 the JSON is nested deeper than 16 levels");
}

TEST(ExplainRequest, ReadsEveryField) {
  HttpRequest request = post("/explain", R"({"text": "a b", "model": "m", "target": "x", "beam": 2, "attentions": true,
      "alternatives": true, "trust": true, "normaliser": "sparsemax"})");
  request.accept = "text/html, Text/Event-Stream;q=0.9";
  const ExplainRequest read = explain_request(request, {});
  EXPECT_EQ(read.text + read.model + *read.target + read.normaliser, "a bmxsparsemax");
  EXPECT_EQ(read.beam, 2);
  EXPECT_TRUE(read.attentions && read.alternatives && read.trust && read.stream);
  const ExplainRequest plain = explain_request(post("/explain", R"({"text": "a", "target": null})"), {});
  EXPECT_FALSE(plain.target || plain.attentions || plain.alternatives || plain.trust || plain.stream);
  EXPECT_EQ(plain.beam, 5);
}

TEST(ExplainRequest, FaultsAreExplained) {
  EXPECT_EQ(explain_refusal("{}"), "400 text is missing: the sentence to look at");
  EXPECT_EQ(explain_refusal(R"({"text": " \n"})"), "422 text is empty: nothing to look at");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "normalizer": "x"})"),
            "400 there is no field normalizer; did you mean normaliser?");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "trust": 1})"), "400 trust must be true or false, not a whole number");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "beam": 0})"), "400 beam must be from 1 to 16");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "beam": 1.5})"),
            "400 beam must be a whole number, not a number with a fraction");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "target": "abc"})", {.text = 2}),
            "422 target has 3 characters; at most 2 are allowed");
}

TEST(InferRequest, ReadsFlatAndNestedTensors) {
  const InferRequest flat = infer_request(
      post("", R"({"id": "7", "inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}]})"),
      {});
  EXPECT_EQ(flat.id, "7");
  EXPECT_EQ(flat.texts, (std::vector<std::string>{"a", "b"}));
  const InferRequest nested = infer_request(
      post("", R"({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2, 1], "data": [["a"], ["b"]]}],
                   "outputs": [{"name": "translation"}]})"),
      {});
  EXPECT_EQ(nested.texts, flat.texts);
  EXPECT_EQ(nested.shape, (std::vector<Index>{2, 1}));
}

TEST(InferRequest, FaultsAreExplained) {
  const auto tensor = [](const char* shape, const char* data) {
    return fmt::format(R"({{"inputs": [{{"name": "text", "datatype": "BYTES", "shape": {}, "data": {}}}]}})", shape,
                       data);
  };
  EXPECT_EQ(infer_refusal("{}"), "400 inputs must be a list of one tensor, named text");
  EXPECT_EQ(infer_refusal(R"({"inputs": [7]})"), "400 inputs must be a list of one tensor, named text");
  EXPECT_EQ(infer_refusal(R"({"inputs": [{"name": "x"}]})"), "400 the input tensor must be named text");
  EXPECT_EQ(infer_refusal(R"({"inputs": [{"name": "text", "datatype": "FP32"}]})"),
            "400 the datatype of text must be BYTES");
  EXPECT_EQ(infer_refusal(tensor("[1]", "[1]")), "400 data must hold texts, not a whole number");
  EXPECT_EQ(infer_refusal(tensor("[3]", R"(["a"])")), "400 the shape of text does not fit its 1 texts");
  EXPECT_EQ(infer_refusal(tensor("[-1]", R"(["a"])")), "400 the shape of text does not fit its 1 texts");
  EXPECT_EQ(infer_refusal(tensor("[1, 1]", R"(["a", "b"])")),
            "400 the shape of text holds 1 texts, but its data has 2");
  EXPECT_EQ(infer_refusal(R"({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]}],
                              "outputs": [{"name": "x"}]})"),
            "400 the only output is translation");
}

TEST(Token, ComesFromTheHeaderOrTheBody) {
  HttpRequest request = post("/translate", R"({"q": "a", "api_key": "key"})");
  EXPECT_EQ(token_of(request), "key");
  EXPECT_EQ(token_of(form("q=a&api_key=k%20y")), "k y");
  request.authorization = "bearer abc";
  EXPECT_EQ(token_of(request), "abc");
  request = post("/explain", R"({"text": "a", "api_key": "key"})");
  EXPECT_EQ(token_of(request), "");
  EXPECT_TRUE(same_token("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "abcabc", "Abc"}) EXPECT_FALSE(same_token(other, "abc")) << other;
}

TEST(Origin, IsTheHostThatThePageCameFrom) {
  EXPECT_TRUE(same_origin("http://localhost:8080", "localhost:8080"));
  EXPECT_TRUE(same_origin("https://Example.org", "example.org"));
  EXPECT_FALSE(same_origin("http://localhost:8081", "localhost:8080"));
  EXPECT_FALSE(same_origin("null", "localhost"));
  EXPECT_FALSE(same_origin("http://", ""));
  EXPECT_EQ(host_name("localhost:80"), "localhost");
  EXPECT_EQ(host_name("[::1]:80"), "[::1]");
  EXPECT_EQ(host_name("[::1"), "[::1");
}

}  // namespace
}  // namespace heed
