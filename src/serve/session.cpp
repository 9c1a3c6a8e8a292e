#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/string.hpp>

#include "heed/serve/header-inl.h"
#include "heed/serve/routes.h"
#include "heed/serve/session-inl.h"

// The life of a connection, and what is read from it.

namespace heed {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

constexpr std::size_t kMostAhead = 65536;  // bytes of requests behind the one that is worked on
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// The pattern of the path that was asked for: of bounded number, and nothing that a client wrote.
std::string route_name(const HttpRequest& request) {
  try {
    return route_of(request).entry->path;
  } catch (const HttpError&) {
    return "(none)";
  }
}

}  // namespace

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
    if (failure == boost::asio::error::operation_aborted && self->has_sent()) return self->wait();  // it has asked
    if (failure) return self->close();
    self->buffer_.commit(count);
    self->read();
  });
}

void Session::read() {
  state_ = State::reading;
  late_ = unread_ = begun_ = false;
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
  http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](Failure failure, std::size_t bytes) {
    failure ? self->read_failed(failure) : self->read_header(bytes);
  });
}

// What the header alone decides is decided before the body is read.
void Session::read_header(std::size_t bytes) {
  const http::request_header<>& header = parser_->get().base();
  version_ = header.version();
  keep_alive_ = parser_->keep_alive();
  // The parser counts the first line and the fields apart.
  if (static_cast<Index>(bytes) > sessions_.options.longest_header) return read_failed(http::error::header_limit);
  try {
    request_ = request_of(header);
  } catch (const HttpError& error) {
    return refuse_unread(error.status(), error.what());
  }
  method_ = request_.method;
  route_ = route_name(request_);
  exchange_ = std::make_shared<Exchange>(shared_from_this(), stream_.get_executor());
  unread_ = !parser_->is_done();
  state_ = State::working;
  if (!sessions_.service.admit(request_, *exchange_)) return;
  state_ = State::reading;
  unread_ = false;
  if (version_ >= 11 && beast::iequals(header[http::field::expect], "100-continue")) send(std::string(kContinue));
  read_body();
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
    return refuse_unread(408, fmt::format("the request did not arrive within {} s", seconds));
  }
  if (failure == http::error::body_limit)
    return refuse_unread(413, fmt::format("the body is larger than {} bytes", options.longest_body));
  if (failure == http::error::header_limit)
    return refuse_unread(431, fmt::format("the header is larger than {} bytes", options.longest_header));
  const bool left = failure == http::error::end_of_stream || failure == http::error::partial_message;
  if (!left && failure.category() == http::make_error_code(http::error::bad_method).category())
    return refuse_unread(400, "this is not HTTP/1.1: " + failure.message());
  close();
}

void Session::refuse_unread(int status, const std::string& text) {
  unread_ = true;
  exchange_ = std::make_shared<Exchange>(shared_from_this(), stream_.get_executor());
  write(error_response(status, text));
}

void Session::take() {
  state_ = State::working;
  began_ = std::chrono::steady_clock::now();
  HttpRequest request = std::exchange(request_, {});  // nothing of it stays while the connection waits for more
  request.body = std::move(parser_->get().body());
  after(sessions_.options.answer_time, [](Session& self) { self.took_too_long(); });
  watch();
  sessions_.service.answer(request, exchange_);
}

// Notices that the client ends its side while its request is worked on. What it sends already for the next one is
// kept; of much of that the rest stays where it is, and the end behind it is not seen.
void Session::watch() {
  if (half_closed_ || buffer_.size() >= kMostAhead) return;
  stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this(), mine = exchange_](Failure failure) {
    const bool busy = self->state_ == State::working || self->state_ == State::streaming;
    if (failure || !busy || self->exchange_ != mine) return;
    if (!self->has_sent()) return self->hears_no_more();
    self->buffer_.commit(self->stream_.socket().read_some(self->buffer_.prepare(kMostAhead), failure));
    if (!failure) self->watch();
  });
}

// A client that has left looks like one that has only said all it had to say; but its system refuses what it is sent.
// Before an answer anybody must understand "100 Continue", between events a comment. HTTP/1.0 has nothing of the kind,
// but every answer begins with the version: that much can be sent of it at once.
void Session::hears_no_more() {
  half_closed_ = true;
  stream_.socket().async_wait(tcp::socket::wait_error, [self = shared_from_this()](Failure failure) {
    if (!failure) self->close();
  });
  if (state_ == State::streaming)
    send(chunk(":\n\n", version_));
  else if (version_ >= 11)
    send(std::string(kContinue));
  else
    begin_answer();
}

void Session::took_too_long() {
  const double seconds = static_cast<double>(sessions_.options.answer_time.count()) / 1000;
  respond(*exchange_, error_response(504, fmt::format("this took longer than {} s", seconds)));
}

bool Session::has_sent() const {
  Failure ignored;
  return stream_.socket().available(ignored) > 0;
}

// What the client has sent may be read already, by a handler that has not run yet: only who still waits is called off.
void Session::finish() {
  if (state_ == State::idle) stream_.cancel();
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
