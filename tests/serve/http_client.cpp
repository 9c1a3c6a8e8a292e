#include "serve/http_client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace heed::test {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;

nlohmann::json HttpAnswer::json() const { return nlohmann::json::parse(body); }
std::string HttpAnswer::error() const { return json().at("error").get<std::string>(); }

struct HttpClient::Connection {
  boost::asio::io_context io;
  tcp::socket socket{io};
  boost::beast::flat_buffer buffer;
};

HttpClient::HttpClient(std::uint16_t port) : connection_(std::make_unique<Connection>()) {
  connection_->socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;

HttpAnswer HttpClient::get(const std::string& target, const HttpHeaders& headers) {
  return ask("GET", target, "", headers);
}

HttpAnswer HttpClient::post(const std::string& target, const std::string& body, const HttpHeaders& headers) {
  return ask("POST", target, body, headers);
}

HttpAnswer HttpClient::post(const std::string& target, const nlohmann::json& body, const HttpHeaders& headers) {
  return ask("POST", target, body.dump(), headers);
}

HttpAnswer HttpClient::ask(const std::string& method, const std::string& target, const std::string& body,
                           const HttpHeaders& headers) {
  http::request<http::string_body> request;
  request.method_string(method);
  request.target(target);
  request.version(11);
  request.set(http::field::host, "localhost");
  if (method == "POST") request.set(http::field::content_type, "application/json");
  for (const auto& [name, value] : headers) request.set(name, value);
  request.body() = body;
  request.prepare_payload();
  boost::beast::error_code failure;
  // A server that has seen enough may answer before everything is sent.
  http::write(connection_->socket, request, failure);
  return read(method == "HEAD");
}

void HttpClient::write(std::string_view bytes) { boost::asio::write(connection_->socket, boost::asio::buffer(bytes)); }

HttpAnswer HttpClient::read(bool head) {
  http::response_parser<http::string_body> parser;
  parser.body_limit(std::uint64_t{1} << 30);
  parser.skip(head);
  boost::beast::error_code failure;
  http::read(connection_->socket, connection_->buffer, parser, failure);
  HttpAnswer answer;
  if (failure) return answer;
  const auto& message = parser.get();
  answer.status = static_cast<int>(message.result_int());
  answer.body = message.body();
  answer.keep_alive = message.keep_alive();
  for (const auto& field : message) answer.headers[std::string(field.name_string())] = std::string(field.value());
  return answer;
}

HttpAnswer HttpClient::read_final() {
  HttpAnswer answer = read();
  while (answer.status == 100) answer = read();
  return answer;
}

void HttpClient::end() { connection_->socket.shutdown(tcp::socket::shutdown_send); }

bool HttpClient::closed() {
  char byte = 0;
  boost::system::error_code failure;
  connection_->socket.read_some(boost::asio::buffer(&byte, 1), failure);
  return failure == boost::asio::error::eof || failure == boost::asio::error::connection_reset;
}

void HttpClient::close() { connection_->socket.close(); }

}  // namespace heed::test
