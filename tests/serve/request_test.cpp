#include "heed/serve/request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/file.h"
#include "heed/serve/documents.h"
#include "heed/serve/libre_translate.h"
#include "heed/serve/routes.h"

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
std::string refusal_of_call(const Call& call) {
  try {
    call();
  } catch (const HttpError& error) {
    return fmt::format("{} {}", error.status(), error.what());
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

std::string translate_refusal(const std::string& body, const RequestLimits& limits = {}) {
  return refusal_of_call([&] { translate_request(post("/translate", body), limits); });
}
std::string explain_refusal(const std::string& body, const RequestLimits& limits = {}) {
  return refusal_of_call([&] { explain_request(post("/explain", body), limits); });
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
  EXPECT_TRUE(refusal_of_call([&] { route_of(request); }).starts_with("404 "));
  request.target = "/v2/models/a/b/infer";
  EXPECT_TRUE(refusal_of_call([&] { route_of(request); }).starts_with("404 "));
  request.target = "/v2/models/a%2";
  EXPECT_TRUE(refusal_of_call([&] { route_of(request); }).starts_with("400 "));
  request.target = "/../etc/passwd";
  EXPECT_TRUE(refusal_of_call([&] { route_of(request); }).starts_with("404 "));
  request.method = "DELETE", request.target = "/translate";
  EXPECT_EQ(refusal_of_call([&] { route_of(request); }), "405 this path takes POST only");
  request.target = "/summarise";
  EXPECT_EQ(refusal_of_call([&] { route_of(request); }), "405 this path takes POST only");
}

TEST(Route, EveryJobIsAtItsVerbUnlessAnAdapterIs) {
  for (const Job& job : jobs()) {
    const HttpRequest request = post("/" + job.verb, "");
    const RouteEntry& entry = *route_of(request).entry;
    EXPECT_EQ(entry.job, &job);
    EXPECT_EQ(entry.route == Route::adapter, entry.adapter != nullptr) << job.verb;
    EXPECT_TRUE(entry.route == Route::adapter || entry.route == Route::verb) << job.verb;
  }
  EXPECT_EQ(route_of(post("/translate", "")).entry->route, Route::adapter);
  EXPECT_EQ(route_of(post("/summarise", "")).entry->route, Route::verb);
}

TEST(Route, OpenApiDescribesExactlyTheRoutes) {
  const nlohmann::json document = nlohmann::json::parse(read_file(HEED_SOURCE_DIR "/docs/openapi.json"));
  EXPECT_EQ(nlohmann::json::parse(openapi_json()), document);
  std::set<std::string> described, routed;
  for (const auto& [path, methods] : document.at("paths").items())
    for (const auto& [method, operation] : methods.items())
      if (method != "parameters") described.insert(method + " " + path);
  std::size_t verbs = 0;
  for (const RouteEntry& entry : routes()) {
    std::string method = entry.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    const std::string path = entry.route == Route::verb ? "/{verb}" : entry.path;
    verbs += entry.route == Route::verb ? 1 : 0;
    routed.insert(method + " " + path);
    const nlohmann::json& operation = document.at("paths").at(path).at(method);
    EXPECT_EQ(operation.contains("security"), entry.open) << path;
  }
  EXPECT_EQ(described, routed);
  EXPECT_GE(verbs, 1u);
  EXPECT_EQ(routed.size(), routes().size() - verbs + 1);
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
  EXPECT_EQ(translate_refusal("{\"q\": "), "400 the body: it is not valid JSON at byte 7");
  EXPECT_EQ(translate_refusal("{\"q\": \"\xff\"}"), "400 the body: it is not valid JSON at byte 8");
  EXPECT_EQ(translate_refusal(R"({"q": "\ud800"})"), "400 the body: it is not valid JSON at byte 14");
  EXPECT_EQ(translate_refusal(R"({"q": 1e999})"), "400 the body: it has a number that is too large");
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
  EXPECT_EQ(refusal_of_call([] { translate_request(form("q=%ff"), {}); }), "400 q is not valid UTF-8");
  EXPECT_EQ(refusal_of_call([] { translate_request(form("q=%4"), {}); }),
            "400 '%' must be followed by two hexadecimal digits");
}

TEST(TranslateRequest, DeepNestingIsRefusedBeforeItTakesMemory) {
  const std::string deep = "{\"q\": " + std::string(500'000, '[') + std::string(500'000, ']') + "}";
  EXPECT_EQ(translate_refusal(deep), "400 the body: it is nested deeper than 16 levels");
}

TEST(ExplainRequest, ReadsEveryField) {
  HttpRequest request = post("/explain", R"({"text": "a b", "model": "m", "target": "x", "beam": 2, "attentions": true,
      "alternatives": true, "trust": true, "normaliser": "sparsemax"})");
  request.accept = "text/html, Text/Event-Stream;q=0.9";
  const ExplainRequest read = explain_request(request, {});
  ASSERT_EQ(read.inputs.size(), 1u);
  EXPECT_EQ(read.inputs[0].name, "text");
  EXPECT_EQ(read.inputs[0].values.at(0).bytes + read.model + *read.target + read.normaliser, "a bmxsparsemax");
  EXPECT_EQ(read.beam, 2);
  EXPECT_TRUE(read.attentions && read.alternatives && read.trust && read.stream);
  const ExplainRequest plain = explain_request(post("/explain", R"({"text": "a", "target": null})"), {});
  EXPECT_FALSE(plain.target || plain.attentions || plain.alternatives || plain.trust || plain.stream);
  EXPECT_EQ(plain.beam, 5);
  const ExplainRequest named =
      explain_request(post("/explain", R"({"inputs": {"image": {"base64": "Zm9v"}, "question": "which?"}})"), {});
  ASSERT_EQ(named.inputs.size(), 2u);
  EXPECT_EQ(named.inputs[0].name + named.inputs[0].values.at(0).bytes, "imagefoo");
  EXPECT_TRUE(named.inputs[0].values.at(0).is_file);
  EXPECT_EQ(named.inputs[1].name + named.inputs[1].values.at(0).bytes, "questionwhich?");
  EXPECT_FALSE(named.inputs[1].values.at(0).is_file);
}

TEST(ExplainRequest, FaultsAreExplained) {
  EXPECT_EQ(explain_refusal("{}"), "400 text is missing: what to look at; inputs names several");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "inputs": {}})"),
            "400 text and inputs are both there; one of them is enough");
  EXPECT_EQ(explain_refusal(R"({"inputs": ["a"]})"), "400 inputs must be an object of values by name, not a list");
  EXPECT_EQ(explain_refusal(R"({"inputs": {"a": ["x"]}})"), R"(400 a must be a text or {"base64": "..."}, not a list)");
  EXPECT_EQ(explain_refusal(R"({"inputs": {"a": {"base64": 1}}})"),
            R"(400 a must be a text or {"base64": "..."}, not an object)");
  EXPECT_EQ(explain_refusal(R"({"inputs": {"a": {"base64": "Zm9"}}})"), "400 a is not valid base64");
  EXPECT_EQ(explain_refusal(R"({"text": 5})"), "400 text must be a text, not a whole number");
  EXPECT_EQ(explain_refusal(R"({"text": " \n"})"), "422 text is empty: nothing to look at");
  EXPECT_EQ(explain_refusal(R"({"inputs": {"a": "x", "b": ""}})"), "422 b is empty: nothing to look at");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "normalizer": "x"})"),
            "400 there is no field normalizer; did you mean normaliser?");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "trust": 1})"), "400 trust must be true or false, not a whole number");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "beam": 0})"), "400 beam must be from 1 to 16");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "beam": 1.5})"),
            "400 beam must be a whole number, not a number with a fraction");
  EXPECT_EQ(explain_refusal(R"({"text": "a", "target": "abc"})", {.text = 2}),
            "422 target has 3 characters; at most 2 are allowed");
}

TEST(VerbRequest, ReadsValuesAndListsOfThem) {
  const VerbRequest read =
      verb_request(post("/x", R"({"model": "m", "premise": ["a", "b"], "image": {"base64": "Zm8="}, "other": null})"));
  EXPECT_EQ(read.model, "m");
  ASSERT_EQ(read.inputs.size(), 2u);
  EXPECT_EQ(read.inputs[0].name, "image");
  EXPECT_EQ(read.inputs[0].values.at(0).bytes, "fo");
  EXPECT_EQ(read.inputs[1].name, "premise");
  EXPECT_EQ(read.inputs[1].values.at(1).bytes, "b");
  const VerbRequest texts = verb_request(post("/x", R"({"texts": ["a", "b"]})"));
  EXPECT_EQ(texts.inputs.at(0).name, "text");
  EXPECT_EQ(texts.inputs.at(0).values.size(), 2u);
  EXPECT_EQ(refusal_of_call([] { verb_request(post("/x", R"({"texts": "a"})")); }),
            "400 texts must be a list of texts, not a text");
  EXPECT_EQ(refusal_of_call([] { verb_request(post("/x", R"({"text": [["a"]]})")); }),
            R"(400 text must be a text or {"base64": "..."}, not a list)");
}

TEST(VerbRequest, ReadsForms) {
  HttpRequest request = post("/caption",
                             "--b\r\nContent-Disposition: form-data; name=image; filename=\"a.jpg\"\r\n\r\none\r\n"
                             "--b\r\nContent-Disposition: form-data; name=model\r\n\r\nm\r\n"
                             "--b\r\nContent-Disposition: form-data; name=image; filename=b\r\n\r\ntwo\r\n--b--\r\n");
  request.content_type = "multipart/form-data; boundary=b";
  const VerbRequest read = verb_request(request);
  EXPECT_EQ(read.model, "m");
  ASSERT_EQ(read.inputs.size(), 1u);
  EXPECT_EQ(read.inputs[0].name, "image");
  ASSERT_EQ(read.inputs[0].values.size(), 2u);
  EXPECT_TRUE(read.inputs[0].values[1].is_file);
  EXPECT_EQ(read.inputs[0].values[1].bytes, "two");
  request.body = "--b\r\n\r\nx\r\n--b--";
  EXPECT_EQ(refusal_of_call([&] { verb_request(request); }), "400 a part of the form has no name");
}

TEST(Token, ComesFromTheHeaderOrTheBody) {
  HttpRequest request = post("/translate", R"({"q": "a", "api_key": "key"})");
  EXPECT_EQ(token_of(request, "api_key"), "key");
  EXPECT_EQ(token_of(form("q=a&api_key=k%20y"), "api_key"), "k y");
  EXPECT_EQ(token_of(request), "");
  request.authorization = "bearer abc";
  EXPECT_EQ(token_of(request, "api_key"), "abc");
  EXPECT_EQ(token_of(request), "abc");
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
