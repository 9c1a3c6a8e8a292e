#include <algorithm>

#include "heed/serve/adapter.h"
#include "heed/base/base64.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/multipart.h"
#include "heed/serve/run_work.h"

// What clients of Hugging Face's image-to-text send and expect:
//   POST /image-to-text  the bytes of an image, {"inputs": "base64"}, or a form with one file
//                        [{"generated_text": "a dog runs"}]

namespace heed {
namespace {

using Json = nlohmann::json;

struct ImageToTextRequest {
  std::string model;
  SentValue image{{}, true};
};

// Bytes as letters, with or without the "data:image/jpeg;base64," of a data: URL.
std::string image_in(const Json& inputs) {
  const std::string text = text_in("inputs", inputs);
  const std::size_t comma = text.starts_with("data:") ? text.find(',') : std::string::npos;
  std::optional<std::string> bytes =
      from_base64(std::string_view(text).substr(comma == std::string::npos ? 0 : comma + 1));
  if (!bytes) refuse(400, "inputs is not valid base64");
  return std::move(*bytes);
}

ImageToTextRequest image_to_text_request(const HttpRequest& request) {
  ImageToTextRequest result;
  if (is_multipart_form(request)) {
    Index files = 0;
    for (const FormPart& part : multipart_form(request)) {
      if (part.is_file) result.image.bytes = part.body, ++files;
      if (!part.is_file && part.name == "model") result.model = part.body;
    }
    if (files != 1) refuse(400, "the form has {} files; one image is expected", files);
  } else if (lowered(request.content_type).starts_with("application/json") || request.body.starts_with('{')) {
    const Json json = read_json(request.body);
    const Members members(json);
    members.read("model", result.model);
    const Json* inputs = members.find("inputs");
    if (inputs == nullptr) refuse(400, "inputs is missing: an image as base64");
    result.image.bytes = image_in(*inputs);
  } else {
    result.image.bytes = request.body;
  }
  if (result.image.bytes.empty()) refuse(400, "the image is empty");
  return result;
}

class ImageToTextWork final : public RunWork {
 public:
  using RunWork::RunWork;

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    Json all = Json::array();
    for (const std::vector<Result>& result : results) all.push_back({{"generated_text", result.front().text}});
    return json_answer(all);
  }
};

std::shared_ptr<Work> image_to_text(const AdapterCall& call) {
  ImageToTextRequest request = image_to_text_request(call.request);
  const Work::Model model = call.models.named_of_job(call.job, request.model);
  return std::make_shared<ImageToTextWork>(model, std::vector<SentSample>{{std::move(request.image)}}, 1, call.options,
                                           call.reply);
}

const RegisterAdapter image_to_text_path{{"captioning", "POST", "/image-to-text", image_to_text}};

}  // namespace
}  // namespace heed
