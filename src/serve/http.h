#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"

// What the server's parts say to each other: HTTP without sockets.

namespace heed {

// A request as far as anything here looks at it. Headers that were not sent are empty.
struct HttpRequest {
  std::string method, target;  // "POST", "/v2/models/demo/infer?x=1"
  std::string body;
  std::string content_type, accept, authorization, origin, host;
  std::string tensor_header;  // Inference-Header-Content-Length: bytes of a body before its binary tensors
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string type = "application/json; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// A request that is not answered as its sender hoped: the status, and words that a person understands.
class HttpError : public Error {
 public:
  HttpError(int status, const std::string& text, std::string allowed = "")
      : Error(text), status_(status), allowed_(std::move(allowed)) {}
  int status() const { return status_; }
  // Of 405: the method that would have been right.
  const std::string& allowed() const { return allowed_; }

 private:
  int status_;
  std::string allowed_;
};

template <class... Args>
[[noreturn]] void refuse(int status, fmt::format_string<Args...> text, Args&&... args) {
  throw HttpError(status, fmt::format(text, std::forward<Args>(args)...));
}

// {"error": text}
HttpResponse error_response(int status, const std::string& text);

// The way back to the client of one request, from any thread. What is said after the answer, or to a client that is
// gone, is dropped.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  // A header of the answer, whatever that will be; before the answer begins.
  virtual void header(const std::string& name, const std::string& value) = 0;
  // The answer, whole. After events only an error's text is still of use: it becomes the last event.
  virtual void send(HttpResponse response) = 0;
  // One server-sent event; the first one begins the answer. `data` is one line.
  virtual void event(const std::string& name, const std::string& data) = 0;
  // Ends an answer of events.
  virtual void end() = 0;
  // Whether nobody waits for the answer any more: the client has left, or was told that it took too long.
  virtual bool gone() const = 0;
};

}  // namespace heed
