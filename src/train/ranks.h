#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/real.h"
#include "heed/train/transport.h"

namespace heed {

// What went wrong on one rank or several, as all of them throw it.
class ErrorOfRanks : public Error {
 public:
  ErrorOfRanks(const std::string& text, bool first, std::exception_ptr own = {})
      : Error(text), first_(first), own_(std::move(own)) {}
  // Whoever shows errors shows it on the first rank only.
  bool is_shown_here() const { return first_; }
  // What was thrown on this rank, if all threw the same.
  const std::exception_ptr& own() const { return own_; }

 private:
  bool first_;
  std::exception_ptr own_;
};

// How numbers travel between ranks. bf16 halves the bytes; what arrives is rounded to 8 bits, so that the sum depends
// on the number of ranks.
enum class Wire { full, bf16 };

// The processes that train one model together. Every rank makes the same calls in the same order; each returns when
// this rank has its result. With a single rank nothing is sent and nothing is changed.
//
// Sums are made in a fixed tree over the ranks, ((0 + 1) + (2 + 3)) + ..., so they are the same bits on every rank, at
// every run, and the tree goes on where Workers' tree over the shards of one rank ends.
class Ranks {
 public:
  // A process alone.
  Ranks() = default;
  explicit Ranks(std::shared_ptr<Transport> transport);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return transport_ ? transport_->rank() : 0; }
  int size() const { return transport_ ? transport_->size() : 1; }
  bool first() const { return rank() == 0; }
  bool alone() const { return size() == 1; }
  // Of the ranks, how many share this machine.
  int neighbours() const { return transport_ ? transport_->neighbours() : 1; }

  // Each number becomes its sum over the ranks. No rank sends more than twice the numbers.
  void sum(std::span<Real> numbers, Wire wire = Wire::full);
  // The numbers of the first rank for all.
  void share(std::span<Real> numbers);
  // What each rank gives, in their order.
  std::vector<std::string> gather(std::string_view own);
  // The same of items that are equally many on every rank, one behind the other.
  template <class T>
  std::vector<T> gather_equal(std::span<const T> own) {
    const std::vector<std::byte> bytes = gather_bytes(std::as_bytes(own));
    std::vector<T> items(bytes.size() / sizeof(T));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(items.data()));
    return items;
  }
  // What the first rank gives.
  std::string from_first(std::string_view own);

  // Each rank works by itself, and goes on when all have. If one throws, all throw an ErrorOfRanks that names the rank
  // it came from, unless all threw the same. A process alone throws what it throws.
  void together(const std::function<void()>& work);
  // The first rank works for all, who wait for it. What it throws is everybody's.
  void once(const std::function<void()>& work);

  // A rank that waits for longer than so many seconds, 0: any time, ends all of them with a message that names the ones
  // that keep the others waiting.
  void set_patience(double seconds) { patience_ = seconds; }
  // Waiting takes no processor time from a thread that computes meanwhile, and so notices later what has arrived.
  void set_background(bool background) { background_ = background; }
  // Seconds that were spent waiting in the foreground. Whoever has another thread exchange something sets what it
  // waited itself.
  double waited() const { return waited_; }
  void set_waited(double seconds) { waited_ = seconds; }

  // For what no rank expects: says what is wrong here, and ends all ranks. Returns if there is only one.
  void abort(const std::string& reason);

 private:
  using Messages = std::vector<Transport::Message>;
  // What a rank threw.
  struct Failure {
    std::exception_ptr own;
    std::string text;  // "!" and what it says; empty: nothing
  };
  static Failure failure_of(const std::function<void()>& work);

  std::vector<std::byte> gather_bytes(std::span<const std::byte> own);
  // "rank 2 of 4 (somewhere)".
  std::string name_of(int rank) const;
  void send(int to, std::span<const std::byte> bytes, Messages& messages);
  void receive(int from, std::span<std::byte> bytes, Messages& messages);
  void wait(Messages& messages);
  void listen_for_distress();
  [[noreturn]] void give_up();

  void add_received(int partner, std::span<const Real> given, std::span<Real> kept, Wire wire);
  void swap(int partner, std::span<const Real> given, std::span<Real> taken, Wire wire);
  void sum_by_doubling(std::span<Real> numbers);
  void sum_by_halving(std::span<Real> numbers, Wire wire);
  void sum_directly(std::span<Real> numbers, Wire wire);

  std::shared_ptr<Transport> transport_;
  std::vector<std::string> machines_;  // of every rank
  Messages distress_;                  // from every rank, if it comes
  std::vector<std::byte> distress_bytes_;
  double patience_ = 0, waited_ = 0, spin_ = 0;  // seconds
  std::atomic<bool> background_ = false;
  std::vector<std::byte> sent_, received_;  // numbers on their way
};

}  // namespace heed
