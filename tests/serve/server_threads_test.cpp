#include <gtest/gtest.h>

#include <atomic>
#include <boost/system/system_error.hpp>
#include <map>

#include "serve/running_server.h"

// Many clients at once, and the end of a server that is busy.

namespace heed {
namespace {

using test::HttpAnswer;
using test::HttpClient;
using test::RunningServer;
using Json = nlohmann::json;

class ServerThreads : public testing::Test {
 protected:
  ServerThreads() {
    ServerOptions options;
    options.service.threads = 1;
    server_.emplace(std::vector<ModelSource>{{"demo", test::make_rnnsearch(folder_.path(), "demo")}}, options);
  }
  HttpClient client() const { return HttpClient(server_->port()); }
  std::string metric(const std::string& name) const {
    const std::string text = "\n" + client().get("/metrics").body;
    const std::size_t line = text.find("\n" + name + " ");
    if (line == std::string::npos) return "";
    const std::size_t begin = line + name.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  static Json texts(int count, int words) {
    std::string text;
    for (int i = 0; i < words; ++i) text += std::string(1, static_cast<char>('a' + i % 10)) + " ";
    return {{"q", std::vector<std::string>(static_cast<std::size_t>(count), text)}};
  }

  TemporaryFolder folder_;
  std::optional<RunningServer> server_;
};

// The same but for the last digits of numbers, which a product of another size may round otherwise.
bool nearly_equal(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return std::abs(a.get<double>() - b.get<double>()) < 1e-3;
  if (!a.is_structured() || a.type() != b.type() || a.size() != b.size()) return a == b;
  for (auto left = a.begin(), right = b.begin(); left != a.end(); ++left, ++right)
    if (!nearly_equal(*left, *right) || (a.is_object() && left.key() != right.key())) return false;
  return true;
}
bool same_trace(const std::string& a, const std::string& b) { return nearly_equal(Json::parse(a), Json::parse(b)); }

TEST_F(ServerThreads, ManyClientsGetWhatEachWouldGetAlone) {
  constexpr int kClients = 16, kRequests = 6;
  const auto body = [](int client, int i) {
    std::string text;
    for (int word = 0; word <= (client + i) % 7; ++word)
      text += std::string(1, static_cast<char>('a' + (client * 3 + word) % 10)) + " ";
    return text;
  };
  std::map<std::string, std::string> translated, explained;
  for (int client = 0; client < kClients; ++client)
    for (int i = 0; i < kRequests; ++i) {
      const std::string text = body(client, i);
      HttpClient one(server_->port());
      translated[text] = one.post("/translate", Json{{"q", text}}).body;
      explained[text] = one.post("/explain", Json{{"text", text}}).body;
    }
  std::vector<std::string> faults(kClients);
  std::vector<std::thread> threads;
  for (int client = 0; client < kClients; ++client)
    threads.emplace_back([&, client] {
      HttpClient one(server_->port());
      for (int i = 0; i < kRequests; ++i) {
        const std::string text = body(client, i);
        const bool explain = (client + i) % 3 == 0;
        const HttpAnswer answer =
            explain ? one.post("/explain", Json{{"text", text}}) : one.post("/translate", Json{{"q", text}});
        const std::string& expected = (explain ? explained : translated).at(text);
        if (answer.status != 200 || !(explain ? same_trace(answer.body, expected) : answer.body == expected))
          faults[static_cast<std::size_t>(client)] += fmt::format("{}: {} {}\n", text, answer.status, answer.body);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

TEST_F(ServerThreads, ClientsThatWaitAreAnsweredTogether) {
  constexpr int kClients = 16, kRequests = 20;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&] {
      HttpClient one = client();
      for (int k = 0; k < kRequests; ++k) EXPECT_EQ(one.post("/translate", texts(4, 10)).status, 200);
    });
  for (std::thread& each : clients) each.join();
  EXPECT_LT(std::stoi(metric("heed_batch_requests_count")), kClients * kRequests);
}

TEST_F(ServerThreads, ShortRequestsAreAnsweredBesideLongOnes) {
  std::atomic<int> long_ones{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([&] {
      EXPECT_EQ(client().post("/translate", texts(256, 60)).status, 200);
      ++long_ones;
    });
  while (metric("heed_queue_length") == "0") std::this_thread::yield();  // one is worked on, and others wait
  for (int i = 0; i < 8; ++i) EXPECT_EQ(client().post("/translate", texts(1, 2)).status, 200);
  EXPECT_LT(long_ones, 3);
  for (std::thread& each : clients) each.join();
}

TEST_F(ServerThreads, StoppingAnswersEverythingThatWasTaken) {
  std::vector<HttpAnswer> answers(6);
  std::vector<std::thread> clients;
  HttpClient idle = client();
  for (HttpAnswer& answer : answers) clients.emplace_back([&] { answer = client().post("/translate", texts(64, 40)); });
  // Each fills a batch: all were taken when one is worked on and the others wait, or when all wait or are done.
  const auto all_taken = [&] {
    const int done = std::stoi(metric("heed_batch_requests_count")), waiting = std::stoi(metric("heed_queue_length"));
    return (done == 0 && waiting == 5) || done + waiting == 6;
  };
  while (!all_taken()) std::this_thread::yield();
  server_->ask_to_stop();
  EXPECT_TRUE(idle.closed());
  server_->stop();
  for (std::thread& each : clients) each.join();
  for (const HttpAnswer& answer : answers) EXPECT_EQ(answer.status, 200);
  EXPECT_THROW(client(), boost::system::system_error);
}

// Whether the end comes before a connection is taken, between that and its first byte, or behind it.
TEST_F(ServerThreads, StoppingLeavesNobodyWhoHasAskedWithoutAWord) {
  std::map<int, int> answers;
  for (int round = 0; round < 20; ++round) {
    ServerOptions options;
    options.service.threads = 1;
    RunningServer server({{"demo", folder_.path() / "demo"}}, options);
    std::vector<std::unique_ptr<HttpClient>> asking;
    for (int i = 0; i <= round; ++i) {
      asking.push_back(std::make_unique<HttpClient>(server.port()));
      asking.back()->write("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    server.ask_to_stop();
    for (const auto& each : asking) ++answers[each->read().status];
    server.stop();
  }
  EXPECT_EQ(answers[0], 0);
  EXPECT_EQ(answers[200] + answers[503], 210);
}

TEST_F(ServerThreads, ClientsThatLeaveAreForgotten) {
  {
    std::vector<std::unique_ptr<HttpClient>> leaving;
    for (int i = 0; i < 8; ++i) {
      leaving.push_back(std::make_unique<HttpClient>(server_->port()));
      const std::string body = texts(64, 40).dump();
      const std::string ask =
          fmt::format("POST /translate HTTP/1.{}\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", i < 4 ? 0 : 1,
                      body.size(), body);
      leaving.back()->write(i % 2 == 0 ? ask : ask + ask);  // some say already what comes next
    }
  }
  while (metric("heed_connections") != "1") std::this_thread::yield();
  EXPECT_EQ(client().post("/translate", texts(1, 3)).status, 200);
  server_->stop();
  int answered = 0;
  for (const std::string& line : server_->log())
    answered += line.find(" POST /translate ") != std::string::npos ? 1 : 0;
  EXPECT_LT(answered, 8);
}

TEST_F(ServerThreads, ReloadingLosesNoRequest) {
  const Json ask{{"text", "a b c"}, {"target", "d e"}};
  const std::string before = client().post("/explain", ask).body;
  std::atomic<bool> stop{false};
  std::atomic<int> newer{0};
  std::vector<std::string> faults(4);
  std::vector<std::thread> clients;
  for (std::string& fault : faults)
    clients.emplace_back([&] {
      HttpClient one = client();
      while (!stop) {
        const HttpAnswer answer = one.post("/explain", ask);
        if (answer.status != 200) fault += fmt::format("{} {}\n", answer.status, answer.body);
        if (answer.status == 200 && Json::parse(answer.body).at("system") == "transformer") ++newer;
      }
    });
  std::filesystem::remove_all(folder_.path() / "demo");
  test::make_transformer(folder_.path(), "demo");
  for (int i = 0; i < 3; ++i) server_->reload();  // all but the first find nothing to do
  while (newer < 8) std::this_thread::yield();
  stop = true;
  for (std::thread& each : clients) each.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  EXPECT_NE(client().post("/explain", ask).body, before);
  server_->stop();
  int loaded = 0;
  for (const std::string& line : server_->log()) loaded += line.starts_with("demo: loaded again from ") ? 1 : 0;
  EXPECT_EQ(loaded, 1);
}

// The events' names, and the data of the last one.
std::string names_of(const std::string& events) {
  std::string names;
  std::istringstream lines(events);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("event: ")) names += line.substr(7) + " ";
  return names;
}
std::string last_data_of(const std::string& events) {
  const std::size_t begin = events.rfind("data: ") + 6;
  return events.substr(begin, events.find('\n', begin) - begin);
}

TEST_F(ServerThreads, StreamsOfManyClientsDoNotMix) {
  std::vector<std::thread> clients;
  std::vector<HttpAnswer> answers(8);
  const test::HttpHeaders stream{{"Accept", "text/event-stream"}};
  for (std::size_t i = 0; i < answers.size(); ++i)
    clients.emplace_back([&, i] {
      const std::string text(1, static_cast<char>('a' + i));
      answers[i] = client().post("/explain", Json{{"text", text + " " + text}}, stream);
    });
  for (std::thread& each : clients) each.join();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string text(1, static_cast<char>('a' + i));
    const std::string alone = client().post("/explain", Json{{"text", text + " " + text}}, stream).body;
    EXPECT_EQ(names_of(alone), names_of(answers[i].body));
    EXPECT_TRUE(same_trace(last_data_of(alone), last_data_of(answers[i].body)));
  }
}

}  // namespace
}  // namespace heed
