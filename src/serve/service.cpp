#include "heed/serve/service.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "heed/base/threads.h"
#include "heed/explain/page.h"
#include "heed/serve/answers.h"
#include "heed/serve/documents.h"

namespace heed {
namespace {

// A name that only this machine can mean, or a number: nobody else's page is at such a host, whatever names resolve to.
bool is_own_host(std::string_view name) {
  if (name.empty() || name == "localhost" || name.ends_with(".localhost") || name.starts_with("[")) return true;
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool listed(const std::vector<std::string>& origins, const std::string& origin) {
  return std::any_of(origins.begin(), origins.end(),
                     [&](const std::string& each) { return each == "*" || each == origin; });
}

}  // namespace

Service::Service(const std::vector<ModelSource>& models, ServiceOptions options,
                 std::function<void(const std::string&)> log)
    : options_(std::move(options)),
      log_(std::move(log)),
      page_(page_answer(page_html(), page_scripts())),
      models_(std::make_shared<const ModelShelf>(models, options_.threads)),
      batcher_(options_.batcher, [this](const Batcher::Items& items) { work(items); }) {}

void Service::finish() {
  begin_finishing();
  batcher_.finish();
}

bool Service::reads_files() const {
  const auto reads = [](const ModelShelf::Model& model) {
    const std::vector<JobSide>& inputs = model->bundle().job->inputs;
    return std::any_of(inputs.begin(), inputs.end(), [](const JobSide& side) { return !is_text(side.kind); });
  };
  const std::shared_ptr<const ModelShelf> shelf = models();
  return std::any_of(shelf->models().begin(), shelf->models().end(), reads);
}

std::shared_ptr<const ModelShelf> Service::models() const {
  const std::lock_guard lock(models_mutex_);
  return models_;
}

void Service::reload() {
  std::vector<std::string> news;
  std::shared_ptr<const ModelShelf> newer = models()->renewed([&](const std::string& line) { news.push_back(line); });
  {
    const std::lock_guard lock(models_mutex_);
    models_ = std::move(newer);
  }
  for (const std::string& line : news) log_(line);  // when it is true
}

void Service::check_sender(const HttpRequest& request, HttpReply& reply) const {
  if (!request.origin.empty()) {
    const bool known = listed(options_.origins, request.origin);
    if (!known && !same_origin(request.origin, request.host))
      refuse(403, "a page at {} may not use this server; --allow-origin lets it", request.origin.substr(0, 100));
    if (known) reply.header("Access-Control-Allow-Origin", request.origin);
    if (known) reply.header("Vary", "Origin");
  }
  // A page whose name was made to resolve to this machine says that name as its host.
  const std::string_view host = host_name(request.host);
  const bool meant = !options_.token.empty() || is_own_host(host) ||
                     std::any_of(options_.origins.begin(), options_.origins.end(), [&](const std::string& origin) {
                       return origin == "*" || same_origin(origin, request.host);
                     });
  if (!meant) refuse(403, "this server is not called {}; --allow-origin names others", host.substr(0, 100));
}

void Service::check_token(const HttpRequest& request, const std::string& field) const {
  if (!options_.token.empty() && !same_token(token_of(request, field), options_.token))
    refuse(401, "a token is needed: send 'Authorization: Bearer TOKEN'");
}

HttpResponse Service::preflight(const HttpRequest& request) const {
  HttpResponse response{204, "", ""};
  response.headers.emplace_back("Allow", "GET, HEAD, POST, OPTIONS");
  if (!request.origin.empty()) {
    response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
    response.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
    response.headers.emplace_back("Access-Control-Max-Age", "600");
  }
  return response;
}

template <class Action>
bool Service::attempt(HttpReply& reply, const Action& action) const {
  try {
    action();
    return true;
  } catch (const HttpError& error) {
    HttpResponse response = error_response(error.status(), error.what());
    if (!error.allowed().empty()) response.headers.emplace_back("Allow", error.allowed());
    reply.send(std::move(response));
  } catch (const std::exception& error) {
    log_(fmt::format("unexpected: {}", error.what()));
    reply.send(error_response(500, "something went wrong that should not; the server's log says what"));
  }
  return false;
}

bool Service::admit(const HttpRequest& header, HttpReply& reply) const {
  return attempt(reply, [&] {
    check_sender(header, reply);
    if (header.method == "OPTIONS") return;
    const RouteEntry& entry = *route_of(header).entry;
    const bool in_body = entry.adapter && *entry.adapter->token_field != '\0' && header.authorization.empty();
    if (!entry.open && !in_body) check_token(header, "");
  });
}

void Service::answer(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
  attempt(*reply, [&] {
    if (request.method == "OPTIONS") return reply->send(preflight(request));
    const RoutedRequest routed = route_of(request);
    if (!routed.entry->open) check_token(request, routed.entry->adapter ? routed.entry->adapter->token_field : "");
    answer_route(request, routed, reply);
  });
}

void Service::answer_route(const HttpRequest& request, const RoutedRequest& routed,
                           const std::shared_ptr<HttpReply>& reply) {
  const std::shared_ptr<const ModelShelf> models = this->models();
  switch (routed.entry->route) {
    case Route::page: return reply->send(page_);
    case Route::models: return reply->send(models_answer(*models));
    case Route::live: return reply->send({200, "{\"live\":true}\n"});
    case Route::ready:
      if (finishing_) refuse(503, "the server is shutting down");
      return reply->send({200, "{\"ready\":true}\n"});
    case Route::server: return reply->send(server_answer());
    case Route::model: return reply->send(model_answer(*models->named(routed.model)));
    case Route::model_ready:
      if (finishing_) refuse(503, "the server is shutting down");
      return reply->send(model_ready_answer(*models->named(routed.model)));
    case Route::metrics:
      return reply->send({200, metrics_.text(batcher_.waiting()), "text/plain; version=0.0.4; charset=utf-8"});
    case Route::openapi: return reply->send({200, std::string(openapi_json())});
    case Route::trace_schema:
      return reply->send({200, std::string(trace_schema_json()), "application/schema+json; charset=utf-8"});
    case Route::explain: {
      ExplainRequest explain = explain_request(request, options_.limits);
      const Work::Model model = models->named(explain.model);
      return submit(explain_work(model, std::move(explain), options_.limits, options_.work, reply));
    }
    case Route::infer: {
      const Work::Model model = models->named(routed.model);
      const InferRequest infer = infer_request(request, options_.limits);
      return submit(infer_work(model, infer, options_.limits, options_.work, reply));
    }
    case Route::verb: {
      VerbRequest verb = verb_request(request);
      const Work::Model model = models->named_of_job(*routed.entry->job, verb.model);
      return submit(verb_work(model, std::move(verb), options_.limits, options_.work, reply));
    }
    case Route::adapter: {
      const AdapterCall call{request, *routed.entry->job, *models, options_.limits, options_.work, reply};
      if (std::shared_ptr<Work> work = routed.entry->adapter->answer(call)) submit(std::move(work));
      return;
    }
  }
}

void Service::submit(std::shared_ptr<Work> work) {
  if (finishing_) refuse(503, "the server is shutting down");
  switch (batcher_.submit(std::move(work))) {
    case Batcher::Taken::yes: return;
    case Batcher::Taken::full:
      refuse(429, "too many requests are waiting ({}); try again in a moment", options_.batcher.queue);
    case Batcher::Taken::finishing: refuse(503, "the server is shutting down");
  }
}

void Service::work(const Batcher::Items& items) {
  limit_threads(options_.threads);
  std::vector<Work*> together;
  for (const auto& item : items) together.push_back(static_cast<Work*>(item.get()));
  const auto began = std::chrono::steady_clock::now();
  const WorkCount count = run(together);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  metrics_.count_batch(static_cast<Index>(together.size()), count.sentences, count.words, taken.count());
}

// What one request of a batch causes is told to that one alone: after a fault each is run by itself.
WorkCount Service::run(const std::vector<Work*>& together) {
  try {
    return together.front()->run(together);
  } catch (const std::exception& error) {
    WorkCount total;
    if (together.size() > 1) {
      for (Work* work : together) {
        if (!work->wanted()) continue;
        const WorkCount count = run({work});
        total.sentences += count.sentences;
        total.words += count.words;
      }
    } else if (const auto* http = dynamic_cast<const HttpError*>(&error); http != nullptr) {
      together.front()->reply().send(error_response(http->status(), http->what()));
    } else if (dynamic_cast<const Error*>(&error) != nullptr) {
      together.front()->reply().send(error_response(422, error.what()));
    } else {
      log_(fmt::format("unexpected: {}", error.what()));
      together.front()->reply().send(
          error_response(500, "something went wrong that should not; the server's log says what"));
    }
    return total;
  }
}

}  // namespace heed
