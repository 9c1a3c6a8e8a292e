#pragma once

#include <string>
#include <vector>

#include "heed/serve/http.h"
#include "heed/serve/inputs.h"

// Tensors of the Open Inference Protocol (KServe v2), as JSON or, by its binary extension, as bytes behind the JSON.

namespace heed {

inline constexpr const char* kTensorHeader = "Inference-Header-Content-Length";
// The output beside a label.
inline constexpr const char* kProbability = "probability";

// A tensor of BYTES that was sent. Without a name: the raw body of a request that says no more.
struct SentTensor {
  std::string name;
  std::vector<Index> shape;
  std::vector<std::string> elements;
  bool binary = false;  // its elements came as bytes, not as texts of JSON
};

struct InferRequest {
  std::string id;
  std::vector<SentTensor> inputs;
  // What is asked for, and whether as bytes. None: everything.
  struct Output {
    std::string name;
    bool binary = false;
  };
  std::vector<Output> outputs;
  bool binary_outputs = false;  // of what `outputs` does not name
};
InferRequest infer_request(const HttpRequest& request, const RequestLimits& limits);

// A tensor of an answer: BYTES or, if there are numbers, FP32.
struct GivenTensor {
  std::string name;
  std::vector<Index> shape;
  std::vector<std::string> texts = {};
  std::vector<float> numbers = {};
  bool is_numbers = false;

  const char* datatype() const { return is_numbers ? "FP32" : "BYTES"; }
};
// Of a model's tensors those that were asked for; a name that none of them has is 400.
std::vector<InferRequest::Output> asked_outputs(const InferRequest& request, const std::vector<std::string>& names);
HttpResponse infer_answer(const std::string& model, const std::string& id, const std::vector<GivenTensor>& tensors,
                          const std::vector<InferRequest::Output>& asked);

}  // namespace heed
