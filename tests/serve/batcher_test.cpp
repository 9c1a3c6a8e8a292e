#include "heed/serve/batcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace heed {
namespace {

class Item final : public BatchItem {
 public:
  explicit Item(std::string kind, Index sentences = 1, bool is_long = false)
      : kind_(std::move(kind)), sentences_(sentences), is_long_(is_long) {}
  const std::string& kind() const override { return kind_; }
  Index sentences() const override { return sentences_; }
  bool is_long() const override { return is_long_; }
  bool wanted() const override { return wanted_; }
  void forget() { wanted_ = false; }

 private:
  std::string kind_;
  Index sentences_;
  bool is_long_;
  std::atomic<bool> wanted_{true};
};

std::shared_ptr<Item> item(const std::string& kind, Index sentences = 1) {
  return std::make_shared<Item>(kind, sentences);
}

// Works on nothing until it is let go; then says what the batches were: "aa b".
class BatcherThreads : public testing::Test {
 protected:
  Batcher::Taken submit(const std::shared_ptr<Item>& what) { return batcher_.submit(what); }
  // An item that keeps the worker busy while the others wait.
  void block() {
    ASSERT_EQ(submit(item("-")), Batcher::Taken::yes);
    started_.get_future().wait();
  }
  std::string finish() {
    gate_.set_value();
    batcher_.finish();
    return said_;
  }

  std::promise<void> gate_, started_;
  std::shared_future<void> open_ = gate_.get_future().share();
  std::string said_;
  Batcher batcher_{{.queue = 8, .sentences = 4}, [this](const Batcher::Items& items) {
                     if (said_.empty()) started_.set_value();
                     open_.wait();
                     if (!said_.empty()) said_ += " ";
                     for (const auto& each : items) said_ += each->kind();
                   }};
};

TEST_F(BatcherThreads, ItemsOfOneKindThatWaitAreWorkedOnTogetherOldestFirst) {
  block();
  for (const char* kind : {"a", "b", "a", "b", "a"}) EXPECT_EQ(submit(item(kind)), Batcher::Taken::yes);
  EXPECT_EQ(batcher_.waiting(), 5);
  EXPECT_EQ(finish(), "- aaa bb");
  EXPECT_EQ(batcher_.waiting(), 0);
}

TEST_F(BatcherThreads, BatchesHaveALimitButAnItemIsNeverCut) {
  block();
  for (const Index sentences : {3, 2, 1, 9, 1}) submit(item("a", sentences));
  // 3 + 1 fit, then 2 + 1, then the large one alone.
  EXPECT_EQ(finish(), "- aa aa a");
}

TEST_F(BatcherThreads, AFullQueueSaysSo) {
  block();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(submit(item("a")), Batcher::Taken::yes);
  EXPECT_EQ(submit(item("a")), Batcher::Taken::full);
  EXPECT_EQ(finish(), "- aaaa aaaa");
}

TEST_F(BatcherThreads, WhatNobodyWaitsForIsLeftOut) {
  block();
  const std::shared_ptr<Item> kept = item("a"), forgotten = item("b");
  submit(forgotten), submit(kept);
  forgotten->forget();
  EXPECT_EQ(finish(), "- a");
}

TEST_F(BatcherThreads, FinishingTakesNothingMoreAndForgetsNothing) {
  block();
  submit(item("a"));
  gate_.set_value();
  batcher_.finish();
  EXPECT_EQ(submit(item("b")), Batcher::Taken::finishing);
  EXPECT_EQ(said_, "- a");
}

// Short items are worked on, and together, while a long one is not done; long ones come one by one.
TEST(BatcherThreadsLong, HoldsUpNobodyButTheNextLongOne) {
  std::promise<void> gate, short_ones_done;
  const std::shared_future<void> open = gate.get_future().share();
  std::atomic<Index> short_done{0};
  std::string long_said;
  Batcher batcher({.queue = 8, .sentences = 4}, [&](const Batcher::Items& items) {
    if (!items.front()->is_long()) {
      if ((short_done += static_cast<Index>(items.size())) == 3) short_ones_done.set_value();
      return;
    }
    open.wait();
    for (const auto& each : items) long_said += each->kind();
    long_said += " ";
  });
  for (int i = 0; i < 2; ++i) batcher.submit(std::make_shared<Item>("a", 1, true));
  for (int i = 0; i < 3; ++i) batcher.submit(item("a"));
  short_ones_done.get_future().wait();  // would wait for ever behind a long one
  EXPECT_EQ(long_said, "");
  gate.set_value();
  batcher.finish();
  EXPECT_EQ(long_said, "a a ");
}

TEST(BatcherThreadsMany, EveryItemOfManyClientsIsWorkedOnOnce) {
  std::atomic<Index> done{0};
  Batcher batcher({.queue = 10'000, .sentences = 16},
                  [&](const Batcher::Items& items) { done += static_cast<Index>(items.size()); });
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 200; ++i) batcher.submit(item(client % 2 == 0 ? "a" : "b"));
    });
  for (std::thread& client : clients) client.join();
  batcher.finish();
  EXPECT_EQ(done, 1600);
}

}  // namespace
}  // namespace heed
