#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "heed/train/ranks.h"

namespace heed::test {

// Ranks as threads of one process: a message is copied into a box that its receiver looks into.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : size_(size) {}

  // Runs body(ranks) once for every rank, each in a thread of its own.
  void run(const std::function<void(const std::shared_ptr<Ranks>&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank)
      threads.emplace_back(
          [this, rank, &body] { body(std::make_shared<Ranks>(std::make_shared<Place>(*this, rank))); });
    for (std::thread& thread : threads) thread.join();
  }
  // Bytes that a rank sent.
  std::size_t sent(int rank) const { return sent_.at(rank); }

 private:
  using Key = std::tuple<int, int, Transport::Channel>;  // from, to
  struct Waiting {
    Key key;
    std::span<std::byte> bytes;
    std::size_t number;  // of those of its key: messages arrive in the order in which they were asked for
  };
  struct Box {
    std::deque<std::vector<std::byte>> messages;
    std::size_t asked = 0, taken = 0;
  };

  class Place final : public Transport {
   public:
    Place(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    ~Place() override {
      for (const Waiting* waiting : waiting_) delete waiting;  // what an aborted rank still waited for
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    int neighbours() const override { return all_.size_; }
    std::string machine() const override { return "machine" + std::to_string(rank_); }
    Message send(int to, std::span<const std::byte> bytes, Channel channel) override {
      const std::lock_guard lock(all_.mutex_);
      all_.boxes_[{rank_, to, channel}].messages.emplace_back(bytes.begin(), bytes.end());
      all_.sent_[rank_] += bytes.size();
      return nullptr;
    }
    Message receive(int from, std::span<std::byte> bytes, Channel channel) override {
      const std::lock_guard lock(all_.mutex_);
      const Key key{from, rank_, channel};
      return *waiting_.insert(new Waiting{key, bytes, all_.boxes_[key].asked++}).first;
    }
    bool arrived(Message& message) override {
      if (message == nullptr) return true;
      auto* waiting = static_cast<Waiting*>(message);
      {
        const std::lock_guard lock(all_.mutex_);
        Box& box = all_.boxes_[waiting->key];
        if (box.messages.empty() || box.taken != waiting->number) return false;
        const std::vector<std::byte>& message_bytes = box.messages.front();
        if (message_bytes.size() != waiting->bytes.size()) throw std::logic_error("a message of another size");
        std::copy(message_bytes.begin(), message_bytes.end(), waiting->bytes.begin());
        box.messages.pop_front();
        ++box.taken;
      }
      forget(message);
      return true;
    }
    void forget(Message& message) override {
      waiting_.erase(static_cast<Waiting*>(message));
      delete static_cast<Waiting*>(message);
      message = nullptr;
    }
    [[noreturn]] void abort(int) override { throw std::runtime_error("aborted"); }

   private:
    ThreadRanks& all_;
    const int rank_;
    std::set<Waiting*> waiting_;
  };

  const int size_;
  std::mutex mutex_;
  std::map<Key, Box> boxes_;
  std::map<int, std::size_t> sent_;
};

}  // namespace heed::test
