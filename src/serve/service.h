#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/serve/batcher.h"
#include "heed/serve/http.h"
#include "heed/serve/metrics.h"
#include "heed/serve/model_shelf.h"
#include "heed/serve/request.h"
#include "heed/serve/routes.h"
#include "heed/serve/work.h"

namespace heed {

struct ServiceOptions {
  RequestLimits limits = {};
  BatcherOptions batcher = {};
  WorkOptions work = {};
  std::string token = {};                 // empty: none is asked for
  std::vector<std::string> origins = {};  // of pages elsewhere that may use the server; "*": all
  int threads = 0;                        // 0: all
};

// Requests in, answers out: who may ask, what is at which path, and which models answer. Knows no socket.
class Service {
 public:
  Service(const std::vector<ModelSource>& models, ServiceOptions options, std::function<void(const std::string&)> log);

  // Answers now or later, from this thread or another; never throws what the client can cause.
  void answer(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  // From now on whatever needs a model is refused; returns when all that was taken before is answered.
  void finish();
  // Says so, without waiting.
  void begin_finishing() { finishing_ = true; }

  ServerMetrics& metrics() { return metrics_; }
  const ModelShelf& models() const { return models_; }

 private:
  // What may not be asked is an HttpError.
  void admit(const HttpRequest& request, HttpReply& reply) const;
  HttpResponse preflight(const HttpRequest& request) const;
  void answer_route(const HttpRequest& request, const RoutedRequest& routed, const std::shared_ptr<HttpReply>& reply);
  void submit(std::shared_ptr<Work> work);
  void work(const Batcher::Items& items);
  WorkCount run(const std::vector<Work*>& together);

  const ServiceOptions options_;
  const std::function<void(const std::string&)> log_;
  const HttpResponse page_;
  ModelShelf models_;
  ServerMetrics metrics_;
  std::atomic<bool> finishing_{false};
  Batcher batcher_;  // last: its thread uses the others
};

}  // namespace heed
