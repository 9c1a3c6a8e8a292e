#include <gtest/gtest.h>

#include "serve/server_fixture.h"

// HTTP by the book: what RFC 9110 and 9112 ask of a server.

namespace heed {
namespace {

using test::HttpAnswer;
using test::HttpClient;
using Json = nlohmann::json;

class ServerHttp : public test::ServerTest {
 protected:
  HttpAnswer sent(const std::string& bytes) const {
    HttpClient one = client();
    one.write(bytes);
    return one.read();
  }
  static std::string post(const std::string& path, const std::string& body, const std::string& version = "1.1") {
    return fmt::format("POST {} HTTP/{}\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", path, version, body.size(),
                       body);
  }
};

TEST_F(ServerHttp, AClientThatHasSaidAllGetsItsAnswer) {
  start();
  for (const char* version : {"1.1", "1.0"}) {
    HttpClient one = client();
    one.write(post("/translate", heavy().dump(), version));
    one.end();
    const HttpAnswer answer = one.read_final();
    EXPECT_EQ(answer.status, 200) << version;
    EXPECT_EQ(answer.json().at("translatedText").size(), 64u);
    EXPECT_TRUE(one.closed());
  }
  // Several requests at once, and their end behind them.
  HttpClient many = client();
  many.write(post("/translate", R"({"q": "a b"})") + post("/translate", heavy().dump()));
  many.end();
  EXPECT_EQ(many.read_final().json().at("translatedText"), run("demo", {"a b"})[0][0].text);
  EXPECT_EQ(many.read_final().json().at("translatedText").size(), 64u);
  EXPECT_TRUE(many.closed());
  // Of a stream too.
  HttpClient stream = client();
  const std::string body = R"({"text": "a b c d e f g h"})";
  stream.write(
      fmt::format("POST /explain HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  body.size(), body));
  stream.end();
  EXPECT_NE(stream.read_final().body.find("event: trace\n"), std::string::npos);
}

TEST_F(ServerHttp, ThereIsOneHost) {
  start();
  EXPECT_EQ(sent("GET /v2/health/live HTTP/1.1\r\n\r\n").status, 400);
  EXPECT_EQ(sent("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n").status, 400);
  EXPECT_EQ(sent("GET /v2/health/live HTTP/1.1\r\nHost: local host\r\n\r\n").status, 400);
  EXPECT_EQ(sent("GET /v2/health/live HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n").status, 400);
  EXPECT_EQ(sent("GET /v2/health/live HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_EQ(sent("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 200);
}

TEST_F(ServerHttp, TargetsMayBeAbsolute) {
  start();
  const auto status = [&](const std::string& method, const std::string& target, const std::string& host) {
    return sent(fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n\r\n", method, target, host)).status;
  };
  EXPECT_EQ(status("GET", "http://localhost:1234/v2/health/live?x=1", "elsewhere.example"), 200);
  EXPECT_EQ(status("GET", "HTTP://127.0.0.1/models", "localhost"), 200);
  EXPECT_EQ(status("GET", "http://localhost", "localhost"), 200);  // the page
  EXPECT_EQ(status("GET", "http://evil.example/models", "localhost"), 403);
  EXPECT_EQ(status("GET", "ftp://localhost/models", "localhost"), 400);
  EXPECT_EQ(status("GET", "http:///models", "localhost"), 400);
  EXPECT_EQ(status("GET", "http://user@localhost/models", "localhost"), 400);
  EXPECT_EQ(status("GET", "models", "localhost"), 400);
  EXPECT_EQ(status("CONNECT", "localhost:80", "localhost"), 400);
  EXPECT_EQ(status("OPTIONS", "*", "localhost"), 204);
  EXPECT_EQ(status("GET", "*", "localhost"), 400);
}

TEST_F(ServerHttp, TheHeadersLimitIsExact) {
  start({.longest_header = 500});
  // The whole header, of so many bytes: much of it in the first line, or in a field.
  const auto header = [](std::size_t size, bool in_target) {
    const std::string first = "GET /v2/health/live?", rest = " HTTP/1.1\r\nHost: localhost\r\nX: ";
    const std::size_t fill = size - first.size() - rest.size() - 5;
    return first + std::string(in_target ? fill : 1, 'x') + rest + std::string(in_target ? 1 : fill, 'x');
  };
  for (const bool in_target : {false, true}) {
    EXPECT_EQ(sent(header(500, in_target) + "\r\n\r\n").status, 200) << in_target;
    EXPECT_EQ(sent(header(501, in_target) + "\r\n\r\n").status, 431) << in_target;
    EXPECT_EQ(sent(header(900, in_target) + "\r\n\r\n").status, 431) << in_target;
  }
}

TEST_F(ServerHttp, TheBodysLimitIsExact) {
  start({.longest_body = 100});
  const std::string body = R"({"q": "a")";
  const auto of = [&](std::size_t size) { return body + std::string(size - body.size() - 1, ' ') + "}"; };
  EXPECT_EQ(sent(post("/translate", of(100))).status, 200);
  EXPECT_EQ(sent(post("/translate", of(101))).status, 413);
  // Nobody is asked to go on with what will be refused.
  EXPECT_EQ(
      sent("POST /translate HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n").status,
      413);
}

TEST_F(ServerHttp, NothingIsReadBeforeTheTokenIsChecked) {
  ServerOptions options;
  options.service.token = "s3cret";
  start(std::move(options));
  const auto header = [](const std::string& path, const std::string& fields) {
    return fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n{}\r\n", path, fields);
  };
  // The body never comes.
  EXPECT_EQ(sent(header("/explain", "")).status, 401);
  EXPECT_EQ(sent(header("/translate", "Authorization: Bearer wrong\r\n")).status, 401);
  EXPECT_EQ(sent(header("/explain", "Expect: 100-continue\r\n")).status, 401);
  EXPECT_EQ(sent(header("/explain", "Authorization: Bearer s3cret\r\nExpect: 100-continue\r\n")).status, 100);
  EXPECT_EQ(sent(header("/nothing", "")).status, 404);
  // Where the token may stand in the body, nothing else in it is looked at.
  for (const char* body : {"{", "[]", "{\"q\": 5}", "{\"api_key\": 5}", "{\"a\": {\"api_key\": \"s3cret\"}}",
                           "{\"api_key\": [\"s3cret\"]}", "{\"a\": \"api_key\", \"b\": \"s3cret\"}", "q=%zz"})
    EXPECT_EQ(sent(post("/translate", body)).status, 401) << body;
  const std::string deep = "{\"q\": " + std::string(100'000, '[');
  EXPECT_EQ(sent(post("/translate", deep)).status, 401);
  EXPECT_EQ(sent(post("/translate", R"({"q": "a", "api_key": "s3cret"})")).status, 200);
  EXPECT_EQ(sent(post("/translate", R"({"api_key": "s3cret", "q": )")).status, 400);
  const std::string form = "q=a+b&api_key=s3%63ret";
  EXPECT_EQ(sent(fmt::format("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n"
                             "Content-Type: application/x-www-form-urlencoded\r\n\r\n{}",
                             form.size(), form))
                .status,
            200);
}

TEST_F(ServerHttp, ARefusalWithoutABodyKeepsTheConnection) {
  start();
  HttpClient one = client();
  EXPECT_EQ(one.get("/nothing").status, 404);
  EXPECT_EQ(one.get("/translate").status, 405);
  EXPECT_EQ(one.get("/v2/health/live").status, 200);
}

TEST_F(ServerHttp, AnAnswerOfAttentionsIsBounded) {
  ServerOptions options;
  options.service.work.most_weights = 40;
  start(std::move(options));
  const auto explained = [&](const Json& attentions) {
    return ServerTest::post("/explain",
                            {{"text", "a b c"}, {"target", "d e"}, {"model", "other"}, {"attentions", attentions}});
  };
  // One layer of an encoder, two of a decoder, of two heads each: 2 · (16 + 2 · (9 + 12)).
  const HttpAnswer refused = explained(true);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(
      refused.error(),
      "[explain] the attentions that were asked for have 116 weights, more than 40: ask for fewer of them by name");
  const Json trace = explained({"decoder.layer2.source"}).json();
  ASSERT_EQ(trace.at("attentions").size(), 1u);
  EXPECT_EQ(trace.at("attentions")[0].at("name"), "decoder.layer2.source");
  EXPECT_FALSE(explained(Json::array()).json().contains("attentions"));
  EXPECT_EQ(explained({"decoder.layer2.sauce"}).error(),
            "[explain] the model has no attention decoder.layer2.sauce; did you mean decoder.layer2.source?");
  EXPECT_EQ(explained({5}).status, 400);
}

}  // namespace
}  // namespace heed
