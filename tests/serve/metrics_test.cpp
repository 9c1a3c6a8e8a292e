#include "heed/serve/metrics.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(ServerMetrics, AreWrittenAsPrometheusReadsThem) {
  ServerMetrics metrics;
  metrics.count_request("/translate", 200, 0.003);
  metrics.count_request("/translate", 200, 100);
  metrics.count_request("/translate", 429, 0.001);
  metrics.count_batch(2, 3, 40, 0.25);
  metrics.connections(5);
  metrics.connections(-1);
  const std::string text = metrics.text(7);
  for (const char* line :
       {"# TYPE heed_requests_total counter\n", "heed_requests_total{route=\"/translate\",status=\"200\"} 2\n",
        "heed_requests_total{route=\"/translate\",status=\"429\"} 1\n", "# TYPE heed_request_seconds histogram\n",
        "heed_request_seconds_bucket{route=\"/translate\",le=\"0.001\"} 1\n",
        "heed_request_seconds_bucket{route=\"/translate\",le=\"0.005\"} 2\n",
        "heed_request_seconds_bucket{route=\"/translate\",le=\"30\"} 2\n",
        "heed_request_seconds_bucket{route=\"/translate\",le=\"+Inf\"} 3\n",
        "heed_request_seconds_sum{route=\"/translate\"} 100.004\n",
        "heed_request_seconds_count{route=\"/translate\"} 3\n", "heed_batch_requests_bucket{le=\"2\"} 1\n",
        "heed_batch_sentences_bucket{le=\"2\"} 0\n", "heed_batch_sentences_bucket{le=\"4\"} 1\n",
        "heed_batch_seconds_sum 0.25\n", "heed_sentences_total 3\n", "heed_words_total 40\n", "heed_queue_length 7\n",
        "heed_connections 4\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace
}  // namespace heed
