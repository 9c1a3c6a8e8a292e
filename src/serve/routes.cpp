#include "heed/serve/routes.h"

#include <algorithm>
#include <optional>

#include "heed/serve/body-inl.h"

namespace heed {
namespace {

struct FixedRoute {
  Route route;
  const char *method, *path;
  bool open;
};

constexpr FixedRoute kRoutes[] = {
    {Route::page, "GET", "/", true},
    {Route::models, "GET", "/models", false},
    {Route::explain, "POST", "/explain", false},
    {Route::live, "GET", "/v2/health/live", true},
    {Route::ready, "GET", "/v2/health/ready", true},
    {Route::server, "GET", "/v2", true},
    {Route::model, "GET", "/v2/models/{model}", false},
    {Route::model_ready, "GET", "/v2/models/{model}/ready", false},
    {Route::infer, "POST", "/v2/models/{model}/infer", false},
    {Route::metrics, "GET", "/metrics", false},
    {Route::openapi, "GET", "/openapi.json", true},
    {Route::trace_schema, "GET", "/trace.schema.json", true},
};

std::vector<RouteEntry> all_routes() {
  std::vector<RouteEntry> list;
  for (const FixedRoute& fixed : kRoutes) list.push_back({fixed.route, fixed.method, fixed.path, fixed.open});
  for (const HttpAdapter& adapter : adapters())
    list.push_back({Route::adapter, adapter.method, adapter.path, false, &job_named(adapter.job), &adapter});
  for (const Job& job : jobs()) {
    const std::string path = "/" + job.verb;
    if (std::none_of(list.begin(), list.end(), [&](const RouteEntry& entry) { return entry.path == path; }))
      list.push_back({Route::verb, "POST", path, false, &job});
  }
  return list;
}

// The text between the braces of an entry's path, if the path fits.
std::optional<std::string_view> matched(std::string_view entry, std::string_view path) {
  const std::size_t open = entry.find('{');
  if (open == std::string_view::npos) {
    if (entry != path) return std::nullopt;
    return std::string_view();
  }
  const std::string_view before = entry.substr(0, open), after = entry.substr(entry.find('}') + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
    return std::nullopt;
  const std::string_view name = path.substr(before.size(), path.size() - before.size() - after.size());
  if (name.find('/') != std::string_view::npos) return std::nullopt;
  return name;
}

}  // namespace

const std::vector<RouteEntry>& routes() {
  static const std::vector<RouteEntry> list = all_routes();
  return list;
}

RoutedRequest route_of(const HttpRequest& request) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  std::string allowed;
  for (const RouteEntry& entry : routes()) {
    const std::optional<std::string_view> name = matched(entry.path, path);
    if (!name) continue;
    const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
    if (method == entry.method) return {&entry, percent_decoded(*name, false)};
    allowed = entry.method;
  }
  if (!allowed.empty()) throw HttpError(405, fmt::format("this path takes {} only", allowed), allowed);
  refuse(404, "there is nothing at this path; GET /openapi.json lists what there is");
}

}  // namespace heed
