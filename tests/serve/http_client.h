#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heed::test {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without an answer
  std::string body;
  std::map<std::string, std::string> headers;  // names as they were sent
  bool keep_alive = false;

  nlohmann::json json() const { return nlohmann::json::parse(body); }
  std::string error() const { return json().at("error").get<std::string>(); }
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// One connection to a server on this machine; every call waits for its answer.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : socket_(io_) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  }

  HttpAnswer get(const std::string& target, const HttpHeaders& headers = {}) { return ask("GET", target, "", headers); }
  HttpAnswer post(const std::string& target, const std::string& body, const HttpHeaders& headers = {}) {
    return ask("POST", target, body, headers);
  }
  HttpAnswer post(const std::string& target, const nlohmann::json& body, const HttpHeaders& headers = {}) {
    return ask("POST", target, body.dump(), headers);
  }
  HttpAnswer ask(const std::string& method, const std::string& target, const std::string& body,
                 const HttpHeaders& headers = {}) {
    namespace http = boost::beast::http;
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
    http::write(socket_, request, failure);  // a server that has seen enough may answer before everything is sent
    return read(method == "HEAD");
  }
  // Bytes as they are.
  void write(std::string_view bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  HttpAnswer read(bool head = false) {
    namespace http = boost::beast::http;
    http::response_parser<http::string_body> parser;
    parser.body_limit(std::uint64_t{1} << 30);
    parser.skip(head);
    boost::beast::error_code failure;
    http::read(socket_, buffer_, parser, failure);
    HttpAnswer answer;
    if (failure) return answer;
    const auto& message = parser.get();
    answer.status = static_cast<int>(message.result_int());
    answer.body = message.body();
    answer.keep_alive = message.keep_alive();
    for (const auto& field : message) answer.headers[std::string(field.name_string())] = std::string(field.value());
    return answer;
  }
  // The final answer, after whatever says that it will come.
  HttpAnswer read_final() {
    HttpAnswer answer = read();
    while (answer.status == 100) answer = read();
    return answer;
  }
  // Says that nothing more will be sent; what is answered can still be read.
  void end() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  // Whether the server has closed the connection; waits for it.
  bool closed() {
    char byte = 0;
    boost::system::error_code failure;
    socket_.read_some(boost::asio::buffer(&byte, 1), failure);
    return failure == boost::asio::error::eof || failure == boost::asio::error::connection_reset;
  }
  void close() { socket_.close(); }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
};

}  // namespace heed::test
