#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
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

  // Whether a request of which only the header is known may go on: who may not ask, and what is not there, is refused
  // before the body is read, and before anything looks into it. False: it was answered so.
  bool admit(const HttpRequest& header, HttpReply& reply) const;
  // Answers a request that was admitted, now or later, from this thread or another; never throws what the client can
  // cause.
  void answer(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply);
  // From now on whatever needs a model is refused; returns when all that was taken before is answered.
  void finish();
  // Says so, without waiting.
  void begin_finishing() { finishing_ = true; }
  // Loads the models again whose folders have changed, and says so in the log. Requests that were taken before are
  // answered by the models of then. Takes as long as loading; one call at a time, from any thread.
  void reload();

  // Whether one of the models reads images or sounds.
  bool reads_files() const;
  ServerMetrics& metrics() { return metrics_; }

 private:
  // Runs what may throw an HttpError; false if it did, and was answered so.
  template <class Action>
  bool attempt(HttpReply& reply, const Action& action) const;
  // What may not be asked, or not by this sender, is an HttpError.
  void check_sender(const HttpRequest& header, HttpReply& reply) const;
  void check_token(const HttpRequest& request, const std::string& field) const;
  HttpResponse preflight(const HttpRequest& request) const;
  void answer_route(const HttpRequest& request, const RoutedRequest& routed, const std::shared_ptr<HttpReply>& reply);
  void submit(std::shared_ptr<Work> work);
  void work(const Batcher::Items& items);
  WorkCount run(const std::vector<Work*>& together);
  std::shared_ptr<const ModelShelf> models() const;

  const ServiceOptions options_;
  const std::function<void(const std::string&)> log_;
  const HttpResponse page_;
  mutable std::mutex models_mutex_;
  std::shared_ptr<const ModelShelf> models_;  // guarded by it; a shelf itself never changes
  ServerMetrics metrics_;
  std::atomic<bool> finishing_{false};
  Batcher batcher_;  // last: its thread uses the others
};

}  // namespace heed
