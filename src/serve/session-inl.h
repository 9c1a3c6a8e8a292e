#pragma once

#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <atomic>
#include <optional>
#include <set>

#include "heed/serve/server.h"

// One connection of the server. Only the server's own sources include this.

namespace heed {

class Session;

// What all connections share. Only the thread that serves them looks at it.
struct Sessions {
  const ServerOptions& options;
  Service& service;
  std::set<Session*> open = {};
  bool finishing = false;  // no new requests
};

// The way back to the client of one request. It may outlive the connection.
class Exchange final : public HttpReply, public std::enable_shared_from_this<Exchange> {
 public:
  using Executor = boost::beast::tcp_stream::executor_type;
  Exchange(const std::shared_ptr<Session>& session, Executor executor)
      : session_(session), executor_(std::move(executor)) {}
  void header(const std::string& name, const std::string& value) override { headers_.emplace_back(name, value); }
  void send(HttpResponse response) override;
  void event(const std::string& name, const std::string& data) override;
  void end() override;
  bool gone() const override { return gone_; }

  void leave() { gone_ = true; }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

 private:
  // Calls the session in its own thread, if it is still there.
  template <class Call>
  void tell(Call call);

  std::weak_ptr<Session> session_;
  Executor executor_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::atomic<bool> gone_{false};
};

// Reads a request, has it answered, writes the answer, and begins again. All members run in the thread that serves.
// session.cpp reads, session_writing.cpp writes.
class Session final : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, Sessions& sessions);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() { wait(); }
  // Answers with an error before anything was read.
  void refuse_unread(int status, const std::string& text);
  // Closes if nothing was asked; otherwise after the answer, which is a refusal if the request had not been read yet.
  void finish();

  // From exchanges; what does not belong to the current one is dropped.
  void respond(const Exchange& exchange, HttpResponse response);
  void add_event(const Exchange& exchange, const std::string& event);
  void end_events(const Exchange& exchange);

 private:
  using Failure = boost::beast::error_code;
  enum class State { idle, reading, working, streaming, answering, closing, closed };

  void wait();
  void read();
  void read_header(std::size_t bytes);
  void read_body();
  void take();
  void read_failed(Failure failure);
  void watch();
  void hears_no_more();
  void took_too_long();
  bool belongs(const Exchange& exchange) const { return exchange_.get() == &exchange && !exchange_->gone(); }
  bool has_sent() const;  // there is something to read
  bool stays_open() const { return keep_alive_ && !unread_ && !sessions_.finishing; }

  void begin_answer();  // of HTTP/1.0, with its first word
  std::string without_begun(std::string answer) const;
  void write(const HttpResponse& response);
  void begin_events();
  void send(std::string bytes);
  void send_more();
  // One part of an answer whose length is not known.
  static std::string chunk(const std::string& text, unsigned version);
  void answered(Failure failure);
  void linger();
  void close();

  template <class Action>
  void after(std::chrono::milliseconds time, Action action);
  void stop_clock();

  Sessions& sessions_;
  boost::beast::tcp_stream stream_;
  boost::asio::steady_timer clock_;
  std::uint64_t clock_round_ = 0;  // of the clock; what an older round does comes too late
  std::string client_;
  State state_ = State::idle;

  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  bool late_ = false;         // the request did not arrive in time
  bool unread_ = false;       // something of the request was left unread: nothing can follow it
  bool half_closed_ = false;  // the client sends nothing more, and may still read

  // Of the request that is being answered.
  std::shared_ptr<Exchange> exchange_;
  HttpRequest request_;
  std::chrono::steady_clock::time_point began_;
  std::string method_, route_;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  int status_ = 200;                // of the answer
  bool begun_ = false;              // its first word was sent
  bool ended_ = false;              // nothing is added to it any more
  std::string outgoing_, sending_;  // what waits to be sent, and what is on its way
  bool sending_now_ = false;
};

template <class Call>
void Exchange::tell(Call call) {
  boost::asio::dispatch(executor_, [self = shared_from_this(), call = std::move(call)]() mutable {
    if (const std::shared_ptr<Session> session = self->session_.lock()) call(*session, *self);
  });
}

template <class Action>
void Session::after(std::chrono::milliseconds time, Action action) {
  stop_clock();
  clock_.expires_after(time);
  clock_.async_wait([self = shared_from_this(), round = clock_round_, action](Failure failure) {
    if (!failure && self->clock_round_ == round) action(*self);
  });
}

}  // namespace heed
