#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// How often values fell below each bound, and their sum.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size()) {}
  void add(double value);
  // The lines of a Prometheus histogram; `labels` is empty or 'name="value"'.
  std::string lines(const std::string& name, const std::string& labels) const;

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;  // of each bound, without those below
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

// What the server has done so far, for Prometheus. All members may be called from any thread.
class ServerMetrics {
 public:
  ServerMetrics();
  void count_request(const std::string& route, int status, double seconds);
  // A batch that was worked on: its items, sentences and the words read and written.
  void count_batch(Index items, Index sentences, Index words, double seconds);
  void connections(Index change);
  Index connections() const;
  // The text exposition format, version 0.0.4.
  std::string text(Index waiting) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  Histogram batch_items_, batch_sentences_, batch_seconds_;
  std::uint64_t sentences_ = 0, words_ = 0;
  Index connections_ = 0;
};

}  // namespace heed
