#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::test {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without an answer
  std::string body;
  std::map<std::string, std::string> headers;  // names as they were sent
  bool keep_alive = false;

  nlohmann::json json() const;
  std::string error() const;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// One connection to a server on this machine; every call waits for its answer.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port);
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;

  HttpAnswer get(const std::string& target, const HttpHeaders& headers = {});
  HttpAnswer post(const std::string& target, const std::string& body, const HttpHeaders& headers = {});
  HttpAnswer post(const std::string& target, const nlohmann::json& body, const HttpHeaders& headers = {});
  HttpAnswer ask(const std::string& method, const std::string& target, const std::string& body,
                 const HttpHeaders& headers = {});
  // Bytes as they are.
  void write(std::string_view bytes);
  HttpAnswer read(bool head = false);
  // The final answer, after whatever says that it will come.
  HttpAnswer read_final();
  // Says that nothing more will be sent; what is answered can still be read.
  void end();
  // Whether the server has closed the connection; waits for it.
  bool closed();
  void close();

 private:
  struct Connection;  // of Boost's Beast, which only one source has to know
  std::unique_ptr<Connection> connection_;
};

}  // namespace heed::test
