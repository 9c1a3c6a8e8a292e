// Any bytes as a request: a first line "METHOD target", then "name: value" lines, an empty line, and the body. Every
// reader of requests gets it. An HttpError is a good answer; anything else is a finding.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/utf8.h"
#include "heed/serve/request.h"

namespace {

std::string_view take_until(std::string_view& bytes, char end) {
  const std::string_view head = bytes.substr(0, bytes.find(end));
  bytes.remove_prefix(std::min(bytes.size(), head.size() + 1));
  return head;
}

heed::HttpRequest request_in(std::string_view bytes) {
  heed::HttpRequest request;
  request.method = take_until(bytes, ' ');
  request.target = take_until(bytes, '\n');
  while (!bytes.empty()) {
    std::string_view line = take_until(bytes, '\n');
    if (line.empty()) break;
    const std::string_view name = take_until(line, ':');
    if (name == "Content-Type") request.content_type = line;
    if (name == "Accept") request.accept = line;
    if (name == "Authorization") request.authorization = line;
    if (name == "Origin") request.origin = line;
    if (name == "Host") request.host = line;
  }
  request.body = bytes;
  return request;
}

void check_texts(const std::vector<std::string>& texts, const heed::RequestLimits& limits) {
  if (static_cast<heed::Index>(texts.size()) > limits.texts) std::abort();
  for (const std::string& text : texts)
    if (!heed::valid_utf8(text) || static_cast<heed::Index>(text.size()) > 4 * limits.text) std::abort();
}

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const heed::HttpError& error) {
    if (error.status() < 400 || error.status() > 499) std::abort();  // the client's fault, whatever it sent
    if (!heed::valid_utf8(heed::error_response(error.status(), error.what()).body)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const heed::HttpRequest request = request_in({reinterpret_cast<const char*>(data), size});
  const heed::RequestLimits limits{.text = 50, .texts = 4};
  attempt([&] { heed::route_of(request); });
  attempt([&] { check_texts(heed::translate_request(request, limits).texts, limits); });
  attempt([&] {
    const heed::ExplainRequest explain = heed::explain_request(request, limits);
    if (explain.beam < 1 || explain.beam > limits.beam) std::abort();
    check_texts({explain.text, explain.target.value_or("")}, limits);
  });
  attempt([&] {
    const heed::InferRequest infer = heed::infer_request(request, limits);
    check_texts(infer.texts, limits);
    heed::Index count = 1;
    for (const heed::Index size_of_axis : infer.shape) count *= size_of_axis;
    if (count != static_cast<heed::Index>(infer.texts.size())) std::abort();
  });
  attempt([&] { heed::same_token(heed::token_of(request), "token"); });
  heed::same_origin(request.origin, request.host);
  if (heed::host_name(request.host).size() > request.host.size()) std::abort();
  return 0;
}
