#include <algorithm>

#include "heed/serve/body-inl.h"
#include "heed/serve/header-inl.h"
#include "heed/serve/tensors.h"

namespace heed {
namespace {

namespace http = boost::beast::http;

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "name", "name:port" or "[number of IPv6]:port"; nothing is allowed too.
bool is_host(std::string_view host) {
  std::size_t end = host.find(':');
  if (host.starts_with("[")) {
    const std::size_t bracket = host.find(']');
    if (bracket == std::string_view::npos) return false;
    end = bracket + 1 == host.size() ? std::string_view::npos : bracket + 1;
    if (end != std::string_view::npos && host[end] != ':') return false;
  }
  const std::string_view name = host.substr(0, end), port = end < host.size() ? host.substr(end + 1) : "";
  const auto belongs = [&](char c) {
    return is_alphanumeric(c) || std::string_view("-._~%!$&'()*+,;=").find(c) != std::string_view::npos ||
           (name.starts_with("[") && (c == '[' || c == ']' || c == ':'));
  };
  return std::all_of(name.begin(), name.end(), belongs) &&
         port.find_first_not_of("0123456789") == std::string_view::npos && port.size() <= 5;
}

std::string host_of(const http::request_header<>& header) {
  const auto hosts = header.count(http::field::host);
  if (hosts > 1) refuse(400, "there are {} Host fields; there must be one", hosts);
  if (hosts == 0 && header.version() >= 11) refuse(400, "the Host field is missing");
  std::string host = text_of(header[http::field::host]);
  if (!is_host(host)) refuse(400, "the Host field is not a host");
  return host;
}

// The path and the query; the host of an absolute target takes the place of the Host field.
std::string path_of(const http::request_header<>& header, std::string& host) {
  std::string target = text_of(header.target());
  if (target.starts_with("/") || (target == "*" && header.method() == http::verb::options)) return target;
  const std::size_t scheme = target.find("://");
  const std::string before = lowered(std::string_view(target).substr(0, scheme));
  if (scheme == std::string::npos || (before != "http" && before != "https"))
    refuse(400, "the target must begin with '/' or be an address of http");
  const std::string rest = target.substr(scheme + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  host = rest.substr(0, end);
  if (host.empty() || !is_host(host)) refuse(400, "the target has no host");
  return rest.substr(end).starts_with("/") ? rest.substr(end) : "/" + rest.substr(end);
}

}  // namespace

HttpRequest request_of(const http::request_header<>& header) {
  const auto field = [&](http::field name) { return text_of(header[name]); };
  HttpRequest request;
  request.method = text_of(header.method_string());
  request.host = host_of(header);
  request.target = path_of(header, request.host);
  request.content_type = field(http::field::content_type);
  request.accept = field(http::field::accept);
  request.authorization = field(http::field::authorization);
  request.origin = field(http::field::origin);
  request.tensor_header = text_of(header[kTensorHeader]);
  return request;
}

}  // namespace heed
