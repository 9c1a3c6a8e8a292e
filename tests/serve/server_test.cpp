#include "heed/serve/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "heed/serve/routes.h"
#include "serve/server_fixture.h"
#include "support/messages.h"

// HTTP against the real server on loopback.

namespace heed {
namespace {

using test::HttpAnswer;
using test::HttpClient;
using test::ServerTest;
using Json = nlohmann::json;

class ServerLimits : public ServerTest {};
class ServerAccess : public ServerTest {};

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
  options.service.limits.texts = 2;
  options.service.work.longest_input = 3;
  start(std::move(options));
  EXPECT_EQ(post("/translate", {{"q", "a b c d e f"}}).status, 422);
  EXPECT_EQ(post("/translate", {{"q", "a b c d"}}).error(), "[translate] the input has 4 pieces; 3 are allowed");
  EXPECT_EQ(post("/explain", {{"text", "a b c d"}}).status, 422);
  EXPECT_EQ(post("/translate", {{"q", "a b c\nd"}}).status, 200);
  EXPECT_EQ(post("/translate", {{"q", {"a b c\nd", "e"}}}).error(), "q has 3 lines; at most 2 are allowed");
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
  start({.answer_time = std::chrono::milliseconds(5)});
  HttpClient one = client();
  const HttpAnswer late = one.post("/translate", heavy(256));  // so long that a busy machine, too, is late
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.error(), "this took longer than 0.005 s");
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

}  // namespace
}  // namespace heed
