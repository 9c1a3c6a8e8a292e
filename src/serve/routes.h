#pragma once

#include <string>
#include <vector>

#include "heed/jobs/job.h"
#include "heed/serve/adapter.h"
#include "heed/serve/http.h"

// Which path goes where.

namespace heed {

enum class Route {
  page,
  models,
  explain,
  live,
  ready,
  server,
  model,
  model_ready,
  infer,
  metrics,
  openapi,
  trace_schema,
  verb,     // of a job
  adapter,  // to what other programs' clients expect
};

struct RouteEntry {
  Route route;
  std::string method;
  std::string path;                      // as OpenAPI writes it: "/v2/models/{model}"
  bool open = false;                     // answered without the token
  const Job* job = nullptr;              // of verbs and adapters
  const HttpAdapter* adapter = nullptr;  // of adapters
};
// The fixed ones, those of adapters, and those of the verbs whose path no adapter took. docs/openapi.json describes the
// same, all verbs as "/{verb}"; a test compares them.
const std::vector<RouteEntry>& routes();

struct RoutedRequest {
  const RouteEntry* entry;
  std::string model;  // of a path that names one
};
// 404 if there is no such path, 405 if it does not take the method. HEAD goes where GET goes.
RoutedRequest route_of(const HttpRequest& request);

}  // namespace heed
