#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/real.h"
#include "heed/serve/http.h"

// What a client asks for, read from what it sent. Nothing here knows a socket or a model; every fault is an HttpError
// with its status and a reason. No text of a request is ever used as the name of a file.

namespace heed {

struct RequestLimits {
  Index text = 5000;  // characters of one text
  Index texts = 256;  // texts of one request
  Index beam = 16;    // hypotheses
  Index alternatives = 8;
};

enum class Route {
  page,
  models,
  explain,
  translate,
  languages,
  live,
  ready,
  server,
  model,
  model_ready,
  infer,
  metrics,
  openapi,
  trace_schema,
};

struct RouteEntry {
  Route route;
  const char* method;
  const char* path;  // as OpenAPI writes it: "/v2/models/{model}"
  bool open;         // answered without the token
};
// docs/openapi.json describes the same; a test compares them.
std::span<const RouteEntry> routes();

struct RoutedRequest {
  const RouteEntry* entry;
  std::string model;  // of a path that names one
};
// 404 if there is no such path, 405 if it does not take the method. HEAD goes where GET goes.
RoutedRequest route_of(const HttpRequest& request);

// What LibreTranslate's clients send, as JSON or as a form.
struct TranslateRequest {
  std::string model;  // empty: chosen by the languages
  std::string source = "auto", target;
  std::vector<std::string> texts;
  bool list = false;  // texts came as a list and go back as one
  Index alternatives = 0;
};
TranslateRequest translate_request(const HttpRequest& request, const RequestLimits& limits);

struct ExplainRequest {
  std::string model;  // empty: the first
  std::string text;
  std::optional<std::string> target;  // a translation that is given instead of searched
  Index beam = 5;
  bool attentions = false, alternatives = false, trust = false;
  std::string normaliser;  // instead of the model's own; empty: that
  bool stream = false;     // the tokens as they come: server-sent events
};
ExplainRequest explain_request(const HttpRequest& request, const RequestLimits& limits);

// The Open Inference Protocol (KServe v2): one tensor "text" of BYTES.
struct InferRequest {
  std::string id;
  std::vector<std::string> texts;
  std::vector<Index> shape;
};
InferRequest infer_request(const HttpRequest& request, const RequestLimits& limits);

// The token of a request: "Authorization: Bearer TOKEN", or "api_key" in a body of LibreTranslate's kind. Empty: none.
std::string token_of(const HttpRequest& request);
// Whether the two are the same, in a time that does not tell where they differ.
bool same_token(std::string_view a, std::string_view b);

// The name or number of a host without its port: "localhost", "127.0.0.1", "[::1]".
std::string_view host_name(std::string_view host);
// Whether a page at this origin ("http://localhost:8080") was loaded from this host ("localhost:8080").
bool same_origin(std::string_view origin, std::string_view host);

}  // namespace heed
