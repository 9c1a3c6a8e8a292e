#include "heed/serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace heed {
namespace {

const std::vector<double> kSeconds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
const std::vector<double> kSizes{1, 2, 4, 8, 16, 32, 64, 128, 256};

std::string head(const char* name, const char* kind, const char* help) {
  return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

}  // namespace

void Histogram::add(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  if (bound != bounds_.end()) ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
  ++count_;
  sum_ += value;
}

std::string Histogram::lines(const std::string& name, const std::string& labels) const {
  const std::string comma = labels.empty() ? "" : ",", braces = labels.empty() ? "" : "{" + labels + "}";
  std::string text;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    below += counts_[i];
    text += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bounds_[i], below);
  }
  text += fmt::format("{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, count_);
  return text + fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, braces, sum_, name, braces, count_);
}

ServerMetrics::ServerMetrics() : batch_items_(kSizes), batch_sentences_(kSizes), batch_seconds_(kSeconds) {}

void ServerMetrics::count_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  seconds_.try_emplace(route, kSeconds).first->second.add(seconds);
}

void ServerMetrics::count_batch(Index items, Index sentences, Index words, double seconds) {
  const std::lock_guard lock(mutex_);
  batch_items_.add(static_cast<double>(items));
  batch_sentences_.add(static_cast<double>(sentences));
  batch_seconds_.add(seconds);
  sentences_ += static_cast<std::uint64_t>(sentences);
  words_ += static_cast<std::uint64_t>(words);
}

void ServerMetrics::connections(Index change) {
  const std::lock_guard lock(mutex_);
  connections_ += change;
}

Index ServerMetrics::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

std::string ServerMetrics::text(Index waiting) const {
  const std::lock_guard lock(mutex_);
  std::string text = head("heed_requests_total", "counter", "Requests answered, by route and status.");
  for (const auto& [key, count] : requests_)
    text += fmt::format("heed_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  text += head("heed_request_seconds", "histogram", "From the whole request to the whole answer.");
  for (const auto& [route, histogram] : seconds_)
    text += histogram.lines("heed_request_seconds", fmt::format("route=\"{}\"", route));
  text += head("heed_batch_requests", "histogram", "Requests worked on together.");
  text += batch_items_.lines("heed_batch_requests", "");
  text += head("heed_batch_sentences", "histogram", "Sentences worked on together.");
  text += batch_sentences_.lines("heed_batch_sentences", "");
  text += head("heed_batch_seconds", "histogram", "Time a batch took.");
  text += batch_seconds_.lines("heed_batch_seconds", "");
  text += head("heed_sentences_total", "counter", "Samples that a model ran on or explained.");
  text += fmt::format("heed_sentences_total {}\n", sentences_);
  text += head("heed_words_total", "counter", "Words read and written.");
  text += fmt::format("heed_words_total {}\n", words_);
  text += head("heed_queue_length", "gauge", "Requests that wait to be worked on.");
  text += fmt::format("heed_queue_length {}\n", waiting);
  text += head("heed_connections", "gauge", "Open connections.");
  return text + fmt::format("heed_connections {}\n", connections_);
}

}  // namespace heed
