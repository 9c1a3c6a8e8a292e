#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/serve/http.h"
#include "heed/serve/inputs.h"

// What a client asks for, read from what it sent. Nothing here knows a socket or a model; every fault is an HttpError
// with its status and a reason.

namespace heed {

struct ExplainRequest {
  std::string model;                      // empty: the first
  std::vector<SentInput> inputs;          // each with one value; "text" may stand for the only one
  std::vector<std::string> choices = {};  // that can be chosen, of a job whose samples have them
  std::optional<std::string> target;      // an output that is given instead of searched
  Index beam = 5;
  bool attentions = false, alternatives = false, trust = false;
  std::vector<std::string> attention_names = {};  // the attentions that are wanted; none: all
  std::string normaliser;                         // instead of the model's own; empty: that
  bool stream = false;                            // the tokens as they come: server-sent events
};
ExplainRequest explain_request(const HttpRequest& request, const RequestLimits& limits);

// What is sent to the path of a job's verb: inputs by their names, each a value or a list of values, as JSON or as a
// form (multipart/form-data) whose files are images or sounds.
struct VerbRequest {
  std::string model;  // empty: the first of the job
  std::vector<SentInput> inputs;
};
VerbRequest verb_request(const HttpRequest& request);

// The token of a request: "Authorization: Bearer TOKEN"; without that header the field of the body, if that has a name.
// Empty: none. Nothing of the body is kept but the token, and what is not JSON or a form has none.
std::string token_of(const HttpRequest& request, const std::string& field = "");
// Whether the two are the same, in a time that does not tell where they differ.
bool same_token(std::string_view a, std::string_view b);

// The name or number of a host without its port: "localhost", "127.0.0.1", "[::1]".
std::string_view host_name(std::string_view host);
// Whether a page at this origin ("http://localhost:8080") was loaded from this host ("localhost:8080").
bool same_origin(std::string_view origin, std::string_view host);

}  // namespace heed
