#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <sstream>

#include "heed/serve/session-inl.h"

// What is written to a connection: answers, events, and what says that somebody is there.

namespace heed {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

constexpr std::chrono::seconds kLinger{2};
constexpr std::string_view kVersion10 = "HTTP/1.0 ";

template <class Message>
std::string header_of(Message& message, const HttpResponse& response, const Exchange& exchange) {
  message.set(http::field::server, "heed");
  message.set(http::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  if (!response.type.empty()) message.set(http::field::content_type, response.type);
  for (const auto& [name, value] : exchange.headers()) message.set(name, value);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  std::ostringstream header;
  header << message.base();
  return header.str();
}

}  // namespace

void Exchange::send(HttpResponse response) {
  tell([response = std::move(response)](Session& session, Exchange& self) mutable {
    session.respond(self, std::move(response));
  });
}

void Exchange::event(const std::string& name, const std::string& data) {
  tell([text = fmt::format("event: {}\ndata: {}\n\n", name, data)](Session& session, Exchange& self) {
    session.add_event(self, text);
  });
}

void Exchange::end() {
  tell([](Session& session, Exchange& self) { session.end_events(self); });
}

std::string Session::chunk(const std::string& text, unsigned version) {
  return version < 11 ? text : beast::buffers_to_string(http::make_chunk(boost::asio::buffer(text)));
}

void Session::respond(const Exchange& exchange, HttpResponse response) {
  if (!belongs(exchange)) return;
  if (state_ == State::working) return write(response);
  if (state_ != State::streaming) return;
  while (response.body.ends_with('\n')) response.body.pop_back();
  add_event(exchange, fmt::format("event: error\ndata: {}\n\n", response.body));
  end_events(exchange);
}

void Session::begin_answer() {
  begun_ = true;
  send(std::string(kVersion10));
}

// What is left to be sent of an answer.
std::string Session::without_begun(std::string answer) const {
  if (begun_) answer.erase(0, kVersion10.size());
  return answer;
}

void Session::write(const HttpResponse& response) {
  state_ = State::answering;
  stop_clock();
  exchange_->leave();
  status_ = response.status;
  http::response<http::empty_body> message(static_cast<http::status>(response.status), version_);
  message.keep_alive(stays_open());
  if (response.status != 204) message.content_length(response.body.size());
  std::string bytes = header_of(message, response, *exchange_);
  if (method_ != "HEAD") bytes += response.body;
  ended_ = true;
  send(without_begun(std::move(bytes)));
}

void Session::add_event(const Exchange& exchange, const std::string& event) {
  if (!belongs(exchange) || (state_ != State::working && state_ != State::streaming) || ended_) return;
  if (state_ == State::working) begin_events();
  send(chunk(event, version_));
}

void Session::begin_events() {
  state_ = State::streaming;
  status_ = 200;
  if (version_ < 11) keep_alive_ = false;
  http::response<http::empty_body> message(http::status::ok, version_);
  message.keep_alive(stays_open());
  if (version_ >= 11) message.chunked(true);
  send(without_begun(header_of(message, {200, "", "text/event-stream; charset=utf-8"}, *exchange_)));
}

void Session::end_events(const Exchange& exchange) {
  if (!belongs(exchange) || state_ != State::streaming || ended_) return;
  stop_clock();
  ended_ = true;
  send(version_ < 11 ? "" : beast::buffers_to_string(http::make_chunk_last()));
}

void Session::send(std::string bytes) {
  if (outgoing_.empty())
    outgoing_.swap(bytes);
  else
    outgoing_ += bytes;
  if (!sending_now_) send_more();
}

void Session::send_more() {
  if (outgoing_.empty()) {
    if (ended_) answered({});
    return;
  }
  sending_now_ = true;
  sending_.swap(outgoing_);
  stream_.expires_after(sessions_.options.idle_time);
  boost::asio::async_write(stream_, boost::asio::buffer(sending_),
                           [self = shared_from_this()](Failure failure, std::size_t) {
                             self->sending_now_ = false;
                             std::string().swap(self->sending_);  // its memory too: an answer may be large
                             if (!failure) return self->send_more();
                             const bool begun = self->ended_ || self->state_ == State::streaming;
                             begun ? self->answered(failure) : self->close();
                           });
}

void Session::answered(Failure failure) {
  if (state_ == State::closed) return;
  exchange_->leave();
  ended_ = false;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  sessions_.service.metrics().count_request(route_, status_, taken.count());
  sessions_.options.log(fmt::format("{} {} {} {} {:.1f} ms", client_, method_, route_, status_, 1000 * taken.count()));
  if (failure) return close();
  if (unread_) return linger();
  stays_open() ? wait() : close();
}

// A client that is still sending would lose the answer if the connection were closed at once.
void Session::linger() {
  if (state_ != State::closing) {
    state_ = State::closing;
    Failure ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLinger);
  }
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(65536), [self = shared_from_this()](Failure failure, std::size_t) {
    failure ? self->close() : self->linger();
  });
}

}  // namespace heed
