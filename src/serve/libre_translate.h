#pragma once

#include <string>
#include <vector>

#include "heed/serve/http.h"
#include "heed/serve/inputs.h"

// LibreTranslate's interface, for the job of translation: /translate, /languages, /detect.

namespace heed {

// What its clients send to /translate, as JSON or as a form.
struct TranslateRequest {
  std::string model;  // empty: chosen by the languages
  std::string source = "auto", target;
  std::vector<std::string> texts;
  bool list = false;  // texts came as a list and go back as one
  Index alternatives = 0;
};
TranslateRequest translate_request(const HttpRequest& request, const RequestLimits& limits);

}  // namespace heed
