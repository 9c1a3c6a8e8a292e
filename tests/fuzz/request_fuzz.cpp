// Any bytes as a request: a first line "METHOD target", then "name: value" lines, an empty line, and the body. Every
// reader of requests gets it. An HttpError is a good answer; anything else is a finding.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/utf8.h"
#include "heed/jobs/job.h"
#include "heed/serve/libre_translate.h"
#include "heed/serve/request.h"
#include "heed/serve/routes.h"
#include "heed/serve/tensors.h"

namespace {

std::string_view take_until(std::string_view& bytes, char end) {
  const std::string_view head = bytes.substr(0, bytes.find(end));
  bytes.remove_prefix(std::min(bytes.size(), head.size() + 1));
  return head;
}

heed::HttpRequest request_in(std::string_view bytes) {
  heed::HttpRequest request;
  request.method = take_until(bytes, ' ');
  request.target = take_until(bytes, '\n');
  while (!bytes.empty()) {
    std::string_view line = take_until(bytes, '\n');
    if (line.empty()) break;
    const std::string_view name = take_until(line, ':');
    if (name == "Content-Type") request.content_type = line;
    if (name == "Accept") request.accept = line;
    if (name == "Authorization") request.authorization = line;
    if (name == "Origin") request.origin = line;
    if (name == "Host") request.host = line;
    if (name == heed::kTensorHeader) request.tensor_header = line;
  }
  request.body = bytes;
  return request;
}

void check_texts(const std::vector<std::string>& texts, const heed::RequestLimits& limits) {
  if (static_cast<heed::Index>(texts.size()) > limits.texts) std::abort();
  for (const std::string& text : texts)
    if (!heed::valid_utf8(text) || static_cast<heed::Index>(text.size()) > 4 * limits.text) std::abort();
}

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const heed::HttpError& error) {
    if (error.status() < 400 || error.status() > 499) std::abort();  // the client's fault, whatever it sent
    if (!heed::valid_utf8(heed::error_response(error.status(), error.what()).body)) std::abort();
  }
}

// What is taken for a job's inputs is whole samples within the limits.
void check_inputs(const std::vector<heed::SentInput>& inputs, const heed::RequestLimits& limits) {
  for (const heed::Job& job : heed::jobs())
    attempt([&] {
      const auto samples = heed::sent_samples(job, inputs, limits);
      if (static_cast<heed::Index>(samples.size()) > limits.texts) std::abort();
      for (const heed::SentSample& sample : samples) {
        if (sample.size() != job.inputs.size()) std::abort();
        for (const heed::SentValue& value : sample)
          if (!value.is_file) check_texts({value.bytes}, limits);
      }
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const heed::HttpRequest request = request_in({reinterpret_cast<const char*>(data), size});
  const heed::RequestLimits limits{.text = 50, .texts = 4};
  attempt([&] { heed::route_of(request); });
  attempt([&] { check_texts(heed::translate_request(request, limits).texts, limits); });
  attempt([&] {
    const heed::ExplainRequest explain = heed::explain_request(request, limits);
    if (explain.beam < 1 || explain.beam > limits.beam) std::abort();
    check_texts({explain.target.value_or("")}, limits);
    for (const heed::SentInput& input : explain.inputs)
      if (input.values.size() != 1) std::abort();
    check_inputs(explain.inputs, limits);
  });
  attempt([&] { check_inputs(heed::verb_request(request).inputs, limits); });
  attempt([&] {
    const heed::InferRequest infer = heed::infer_request(request, limits);
    for (const heed::SentTensor& tensor : infer.inputs) {
      heed::Index count = 1;
      for (const heed::Index size_of_axis : tensor.shape) count *= size_of_axis;
      if (count != static_cast<heed::Index>(tensor.elements.size())) std::abort();
    }
    heed::asked_outputs(infer, {"translation", "probability"});
  });
  attempt([&] { heed::same_token(heed::token_of(request, "api_key"), "token"); });
  heed::same_origin(request.origin, request.host);
  if (heed::host_name(request.host).size() > request.host.size()) std::abort();
  return 0;
}
