#include <gtest/gtest.h>

#include <sstream>

#include "serve/server_fixture.h"

// Traces that come as events.

namespace heed {
namespace {

using test::HttpAnswer;
using test::HttpClient;
using Json = nlohmann::json;

class ServerStreams : public test::ServerTest {};

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
