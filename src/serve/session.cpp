#include <boost/asio/write.hpp>
#include <sstream>

#include "heed/serve/routes.h"
#include "heed/serve/session-inl.h"
#include "heed/serve/tensors.h"

namespace heed {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::chrono::seconds kLinger{2};

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

// The pattern of the path that was asked for: of bounded number, and nothing that a client wrote.
std::string route_name(const HttpRequest& request) {
  try {
    return route_of(request).entry->path;
  } catch (const HttpError&) {
    return "(none)";
  }
}

template <class Message>
void set_headers(Message& message, const HttpResponse& response, const Exchange& exchange) {
  message.set(http::field::server, "heed");
  message.set(http::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  if (!response.type.empty()) message.set(http::field::content_type, response.type);
  for (const auto& [name, value] : exchange.headers()) message.set(name, value);
  for (const auto& [name, value] : response.headers) message.set(name, value);
}

// One part of an answer whose length is not known.
std::string chunk(const std::string& text, unsigned version) {
  return version < 11 ? text : fmt::format("{:x}\r\n{}\r\n", text.size(), text);
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

Session::Session(tcp::socket socket, Sessions& sessions)
    : sessions_(sessions), stream_(std::move(socket)), clock_(stream_.get_executor()) {
  beast::error_code ignored;
  const tcp::endpoint end = stream_.socket().remote_endpoint(ignored);
  client_ = end.address().to_string();
  stream_.socket().set_option(tcp::no_delay(true), ignored);
  sessions_.open.insert(this);
  sessions_.service.metrics().connections(1);
}

Session::~Session() {
  if (exchange_) exchange_->leave();
  sessions_.open.erase(this);
  sessions_.service.metrics().connections(-1);
}

void Session::stop_clock() {
  ++clock_round_;
  clock_.cancel();
}

// Waits for the first byte of a request.
void Session::wait() {
  state_ = State::idle;
  if (buffer_.size() > 0) return read();
  if (sessions_.finishing && !has_sent()) return close();
  stream_.expires_after(sessions_.options.idle_time);
  stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Failure failure, std::size_t count) {
    if (failure) return self->close();
    self->buffer_.commit(count);
    self->read();
  });
}

void Session::read() {
  state_ = State::reading;
  late_ = false;
  began_ = std::chrono::steady_clock::now();
  method_ = "?", route_ = "(none)";
  version_ = 11;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(sessions_.options.longest_header));
  parser_->body_limit(static_cast<std::uint64_t>(sessions_.options.longest_body));
  stream_.expires_never();
  after(sessions_.options.client_time, [](Session& self) {
    self.late_ = true;
    self.stream_.cancel();
  });
  http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](Failure failure, std::size_t) {
    if (failure) return self->read_failed(failure);
    const beast::string_view expected = self->parser_->get()[http::field::expect];
    if (!beast::iequals(expected, "100-continue")) return self->read_body();
    boost::asio::async_write(self->stream_, boost::asio::buffer(kContinue), [self](Failure failed, std::size_t) {
      return failed ? self->read_failed(failed) : self->read_body();
    });
  });
}

void Session::read_body() {
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Failure failure, std::size_t) {
    failure ? self->read_failed(failure) : self->take();
  });
}

void Session::read_failed(Failure failure) {
  stop_clock();
  const ServerOptions& options = sessions_.options;
  if (late_) {
    const double seconds = static_cast<double>(options.client_time.count()) / 1000;
    return turn_away(408, fmt::format("the request did not arrive within {} s", seconds));
  }
  if (failure == http::error::body_limit)
    return turn_away(413, fmt::format("the body is larger than {} bytes", options.longest_body));
  if (failure == http::error::header_limit)
    return turn_away(431, fmt::format("the header is larger than {} bytes", options.longest_header));
  const bool left = failure == http::error::end_of_stream || failure == http::error::partial_message;
  if (!left && failure.category() == http::make_error_code(http::error::bad_method).category())
    return turn_away(400, "this is not HTTP/1.1: " + failure.message());
  close();
}

void Session::turn_away(int status, const std::string& text) {
  unread_ = true;
  exchange_ = std::make_shared<Exchange>(shared_from_this(), stream_.get_executor());
  write(error_response(status, text));
}

void Session::take() {
  stop_clock();
  state_ = State::working;
  http::request<http::string_body> message = parser_->release();
  const auto field = [&](http::field name) { return text_of(message[name]); };
  HttpRequest request{.method = text_of(message.method_string()),
                      .target = text_of(message.target()),
                      .body = std::move(message.body()),
                      .content_type = field(http::field::content_type),
                      .accept = field(http::field::accept),
                      .authorization = field(http::field::authorization),
                      .origin = field(http::field::origin),
                      .host = field(http::field::host),
                      .tensor_header = text_of(message[kTensorHeader])};
  began_ = std::chrono::steady_clock::now();
  method_ = request.method;
  route_ = route_name(request);
  version_ = message.version();
  keep_alive_ = message.keep_alive();
  exchange_ = std::make_shared<Exchange>(shared_from_this(), stream_.get_executor());
  after(sessions_.options.answer_time, [](Session& self) { self.took_too_long(); });
  watch();
  sessions_.service.answer(request, exchange_);
}

// Notices that the client leaves while its request is worked on. What it may send already for the next one stays.
void Session::watch() {
  stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this(), mine = exchange_](Failure failure) {
    const bool busy = self->state_ == State::working || self->state_ == State::streaming;
    if (failure || !busy || self->exchange_ != mine) return;
    if (!self->has_sent()) self->close();
  });
}

void Session::took_too_long() {
  const double seconds = static_cast<double>(sessions_.options.answer_time.count()) / 1000;
  respond(*exchange_, error_response(504, fmt::format("this took longer than {} s", seconds)));
}

void Session::respond(const Exchange& exchange, HttpResponse response) {
  if (!belongs(exchange)) return;
  if (state_ == State::working) return write(std::move(response));
  if (state_ != State::streaming) return;
  while (response.body.ends_with('\n')) response.body.pop_back();
  add_event(exchange, fmt::format("event: error\ndata: {}\n\n", response.body));
  end_events(exchange);
}

void Session::write(HttpResponse response) {
  state_ = State::answering;
  stop_clock();
  exchange_->leave();
  const auto message =
      std::make_shared<http::response<http::string_body>>(static_cast<http::status>(response.status), version_);
  set_headers(*message, response, *exchange_);
  message->keep_alive(stays_open());
  message->body() = std::move(response.body);
  message->prepare_payload();
  if (method_ == "HEAD") message->body().clear();  // its length stays in the header
  stream_.expires_after(sessions_.options.idle_time);
  http::async_write(stream_, *message,
                    [self = shared_from_this(), message, status = response.status](Failure failure, std::size_t) {
                      self->written(failure, status);
                    });
}

void Session::add_event(const Exchange& exchange, const std::string& event) {
  if (!belongs(exchange) || (state_ != State::working && state_ != State::streaming) || ended_) return;
  outgoing_ += chunk(event, version_);
  if (state_ == State::working) begin_events();
  write_events();
}

void Session::begin_events() {
  state_ = State::streaming;
  ended_ = false;
  if (version_ < 11) keep_alive_ = false;
  http::response<http::empty_body> message(http::status::ok, version_);
  set_headers(message, {200, "", "text/event-stream; charset=utf-8"}, *exchange_);
  message.keep_alive(stays_open());
  if (version_ >= 11) message.chunked(true);
  std::ostringstream header;
  header << message.base();
  outgoing_ = header.str() + outgoing_;
}

void Session::end_events(const Exchange& exchange) {
  if (!belongs(exchange) || state_ != State::streaming || ended_) return;
  stop_clock();
  ended_ = true;
  if (version_ >= 11) outgoing_ += "0\r\n\r\n";
  write_events();
}

void Session::write_events() {
  if (sending_now_) return;
  if (outgoing_.empty()) {
    if (ended_) written({}, 200);
    return;
  }
  sending_now_ = true;
  sending_ = std::exchange(outgoing_, "");
  stream_.expires_after(sessions_.options.idle_time);
  boost::asio::async_write(stream_, boost::asio::buffer(sending_),
                           [self = shared_from_this()](Failure failure, std::size_t) {
                             self->sending_now_ = false;
                             if (failure) return self->written(failure, 200);
                             self->write_events();
                           });
}

void Session::written(Failure failure, int status) {
  if (state_ == State::closed) return;
  exchange_->leave();
  ended_ = false;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  sessions_.service.metrics().count_request(route_, status, taken.count());
  sessions_.options.log(fmt::format("{} {} {} {} {:.1f} ms", client_, method_, route_, status, 1000 * taken.count()));
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

bool Session::has_sent() const {
  Failure ignored;
  return stream_.socket().available(ignored) > 0;
}

void Session::finish() {
  if (state_ == State::idle && !has_sent()) close();
}

void Session::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  stop_clock();
  if (exchange_) exchange_->leave();
  Failure ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  stream_.close();
}

}  // namespace heed
