#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/serve/work.h"

// What programs of a field already speak: a path that takes and gives what their clients expect, beside the paths that
// every job has. One file registers it for a job, and the server finds it here.

namespace heed {

// A request on its way to an adapter.
struct AdapterCall {
  const HttpRequest& request;
  const Job& job;
  const ModelShelf& models;
  const RequestLimits& limits;
  const WorkOptions& options;
  std::shared_ptr<HttpReply> reply;
};

struct HttpAdapter {
  std::string job;  // by name
  const char* method;
  const char* path;  // at the path of the job's verb, it takes that one's place
  // Work for a model; or nothing, if the reply was sent at once. A fault is an HttpError.
  std::shared_ptr<Work> (*answer)(const AdapterCall& call);
  const char* token_field = "";  // of the body, where its clients may send the token instead of in the header
};

// All adapters by path.
const std::vector<HttpAdapter>& adapters();

struct RegisterAdapter {
  explicit RegisterAdapter(HttpAdapter adapter);
};

}  // namespace heed
