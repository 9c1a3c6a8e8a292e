#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "heed/jobs/runner.h"
#include "serve/running_server.h"
#include "support/tiny_bundle.h"

namespace heed::test {

// A server on loopback with two translation models, or with those that the test gives it.
class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.service.threads = 1;
    server_.emplace(std::vector<ModelSource>{{"demo", make_rnnsearch(folder_.path(), "demo")},
                                             {"other", make_transformer(folder_.path(), "other")}},
                    std::move(options));
  }
  HttpClient client() const { return HttpClient(server_->port()); }
  HttpAnswer get(const std::string& target, const HttpHeaders& headers = {}) const {
    return client().get(target, headers);
  }
  HttpAnswer post(const std::string& target, const nlohmann::json& body, const HttpHeaders& headers = {}) const {
    return client().post(target, body, headers);
  }
  // What the model of the folder gives, without a server.
  std::vector<std::vector<Result>> run(const std::string& model, const std::vector<std::string>& texts) const {
    Runner runner({folder_.path() / model}, 1, [](const std::string&) {});
    return runner.run(samples_of(texts));
  }
  // A request that keeps the model busy for a while: many long texts.
  static nlohmann::json heavy(std::size_t texts = 64) {
    std::string text;
    for (int i = 0; i < 8; ++i) text += "a b c d e ";
    return {{"q", std::vector<std::string>(texts, text)}};
  }

  TemporaryFolder folder_;
  std::optional<RunningServer> server_;
};

}  // namespace heed::test
