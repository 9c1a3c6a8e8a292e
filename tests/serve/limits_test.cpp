#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/serve/server.h"

namespace heed {
namespace {

// The limits that the documents name are those that the server has.
TEST(ServerLimitsAsDocumented, AreTheRealOnes) {
  const std::string text = read_file(std::string(HEED_SOURCE_DIR) + "/docs/server.md");
  const ServerOptions server;
  const ServiceOptions& service = server.service;
  const auto seconds = [](std::chrono::milliseconds time) { return time.count() / 1000; };
  for (const std::string& row :
       {fmt::format("| bytes of a body | `--max-body` {}; {} where a model reads images or sounds | 413 |",
                    kLongestBody, kLongestFileBody),
        fmt::format("| characters of a text | `--max-text` {} | 422 |", service.limits.text),
        fmt::format("| samples of a request, and lines of those to translate | `--max-texts` {} | 422 |",
                    service.limits.texts),
        fmt::format("| pieces of one text | {} | 422 |", service.work.longest_input),
        fmt::format("| pieces of an input or output whose trust is measured | {} | 422", service.work.longest_trusted),
        fmt::format("| weights of the attentions in an answer | {} | 422 |", service.work.most_weights),
        fmt::format("| `beam`, `alternatives` | {}, {} | 400 |", service.limits.beam, service.limits.alternatives),
        fmt::format("| bytes of a header, from the first to the empty line | {} | 431 |", server.longest_header),
        fmt::format("| seconds for a request to arrive | `--client-timeout` {} | 408 |", seconds(server.client_time)),
        fmt::format("| seconds until the answer | `--timeout` {} | 504 |", seconds(server.answer_time)),
        fmt::format("| waiting requests | `--max-queue` {} | 429", service.batcher.queue),
        fmt::format("| open connections | `--max-connections` {} | 503 |", server.connections),
        fmt::format("| seconds a connection may be quiet | `--idle-timeout` {} | closed |", seconds(server.idle_time)),
        fmt::format("more than {} weights in one answer", service.work.most_weights),
        fmt::format("of more than about {} pieces in all", service.work.short_pieces)})
    EXPECT_NE(text.find(row), std::string::npos) << row;

  const auto openapi = nlohmann::json::parse(read_file(std::string(HEED_SOURCE_DIR) + "/docs/openapi.json"));
  const auto property = [&](const char* schema, const char* name) {
    return openapi.at("components").at("schemas").at(schema).at("properties").at(name);
  };
  const auto says = [&](const nlohmann::json& where, Index limit) {
    return where.at("description").get<std::string>().find(fmt::format(" {} ", limit)) != std::string::npos;
  };
  EXPECT_EQ(property("ExplainRequest", "beam").at("maximum"), service.limits.beam);
  EXPECT_EQ(property("TranslateRequest", "alternatives").at("maximum"), service.limits.alternatives);
  EXPECT_TRUE(says(property("ExplainRequest", "attentions"), service.work.most_weights));
  EXPECT_TRUE(says(property("ExplainRequest", "trust"), service.work.longest_trusted));
  EXPECT_TRUE(says(property("TranslateRequest", "q"), service.limits.texts));
  EXPECT_TRUE(says(openapi.at("info"), server.longest_header));
}

}  // namespace
}  // namespace heed
