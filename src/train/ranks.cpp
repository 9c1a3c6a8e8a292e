#include "heed/train/ranks.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "heed/kernels/elementwise.h"
#include "heed/train/sum_tree.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// A large message goes in pieces, so that what has arrived is added while the rest is on its way.
constexpr std::size_t kPiece = 512 * 1024;  // bytes
constexpr std::size_t kPiecesAhead = 4;     // that are received at once
// So few numbers are sent whole at every level of the tree: what costs is the number of messages.
constexpr std::size_t kFew = 8192;
constexpr std::size_t kDirectBlock = std::size_t{1}
                                     << 20;  // numbers summed at once by a number of ranks that is no power of 2

// After its patience is at an end a rank waits so long for a sign from the others.
constexpr double kGrace = 2;

std::span<const std::byte> bytes_of(std::span<const Real> numbers) { return std::as_bytes(numbers); }

// The upper half of a float, rounded to the nearest, ties to even; NaN stays NaN.
std::uint16_t to_bf16(Real number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}
Real from_bf16(std::uint16_t half) {
  return static_cast<Real>(std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U));
}

std::size_t bytes_each(Wire wire) { return wire == Wire::bf16 ? sizeof(std::uint16_t) : sizeof(Real); }

// The numbers as they are sent: themselves, or in `room`.
std::span<const std::byte> encoded(std::span<const Real> numbers, Wire wire, std::vector<std::byte>& room) {
  if (wire == Wire::full) return bytes_of(numbers);
  room.resize(numbers.size() * bytes_each(wire));
  auto* halves = reinterpret_cast<std::uint16_t*>(room.data());
  std::transform(numbers.begin(), numbers.end(), halves, to_bf16);
  return room;
}

void add_encoded(std::span<const std::byte> bytes, Wire wire, std::span<Real> numbers) {
  if (wire == Wire::full)
    return kernels::accumulate(static_cast<Index>(numbers.size()), reinterpret_cast<const Real*>(bytes.data()),
                               numbers.data());
  const auto* halves = reinterpret_cast<const std::uint16_t*>(bytes.data());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += from_bf16(halves[i]);
}

void decode(std::span<const std::byte> bytes, Wire wire, std::span<Real> numbers) {
  if (wire == Wire::full) {
    std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(numbers).begin());
    return;
  }
  const auto* halves = reinterpret_cast<const std::uint16_t*>(bytes.data());
  std::transform(halves, halves + numbers.size(), numbers.begin(), from_bf16);
}

// What the others will have of these numbers.
void round_as_sent(std::span<Real> numbers, Wire wire) {
  if (wire == Wire::full) return;
  for (Real& number : numbers) number = from_bf16(to_bf16(number));
}

}  // namespace

Ranks::Ranks(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {
  if (alone()) return;
  // Where every rank has a processor of its own, looking again at once is the fastest; elsewhere the one that is waited
  // for may need this one's.
  spin_ = neighbours() > static_cast<int>(std::thread::hardware_concurrency()) ? 20e-6 : 1e-3;
  machines_ = gather(transport_->machine());
  distress_bytes_.resize(static_cast<std::size_t>(size()));
  for (int rank = 0; rank < size(); ++rank)
    distress_.push_back(rank == this->rank()
                            ? nullptr
                            : transport_->receive(rank, {&distress_bytes_[static_cast<std::size_t>(rank)], 1},
                                                  Transport::Channel::distress));
}

Ranks::~Ranks() {
  for (Transport::Message& message : distress_) transport_->forget(message);
}

std::string Ranks::name_of(int rank) const {
  return fmt::format("rank {} of {} ({})", rank, size(), machines_[static_cast<std::size_t>(rank)]);
}

void Ranks::send(int to, std::span<const std::byte> bytes, Messages& messages) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    messages.push_back(
        transport_->send(to, bytes.subspan(at, std::min(kPiece, bytes.size() - at)), Transport::Channel::work));
}

void Ranks::receive(int from, std::span<std::byte> bytes, Messages& messages) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    messages.push_back(
        transport_->receive(from, bytes.subspan(at, std::min(kPiece, bytes.size() - at)), Transport::Channel::work));
}

void Ranks::wait(Messages& messages) {
  constexpr double kYield = 5e-3, kListen = 0.05;
  const auto began = Clock::now();
  double listened = 0;
  while (true) {
    std::erase_if(messages, [this](Transport::Message& message) { return transport_->arrived(message); });
    if (messages.empty()) break;
    const double seconds = seconds_since(began);
    if (seconds > listened + kListen) {
      listened = seconds;
      listen_for_distress();
      if (patience_ > 0 && seconds > patience_) give_up();
    }
    // Whoever computes on this core meanwhile shall not be disturbed; later on neither shall another rank.
    if (background_ || seconds > kYield)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else if (seconds > spin_)
      std::this_thread::yield();
  }
  if (!background_) waited_ += seconds_since(began);
}

// A rank that waits answers the distress of another with its own: it is not the one that is missed.
void Ranks::listen_for_distress() {
  for (std::size_t rank = 0; rank < distress_.size(); ++rank)
    if (distress_[rank] && transport_->arrived(distress_[rank])) give_up();
}

// Tells all ranks, hears which of them wait as well, and has the lowest of those say which do not.
void Ranks::give_up() {
  const std::byte sign{1};
  Messages sent;
  for (int rank = 0; rank < size(); ++rank)
    if (rank != this->rank()) sent.push_back(transport_->send(rank, {&sign, 1}, Transport::Channel::distress));
  for (const auto began = Clock::now(); seconds_since(began) < kGrace;) {
    for (Transport::Message& message : distress_)
      if (message) transport_->arrived(message);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::vector<std::string> silent;
  int speaker = size();
  for (int rank = 0; rank < size(); ++rank) {
    if (rank != this->rank() && distress_[static_cast<std::size_t>(rank)])
      silent.push_back(name_of(rank));
    else
      speaker = std::min(speaker, rank);
  }
  if (speaker == rank()) {
    const std::string who = silent.empty() ? "a message was lost between the ranks"
                                           : fmt::format("{} gives no answer", fmt::join(silent, ", "));
    fmt::print(stderr, "heed: {}: waited {:.0f} s; the training ends, and its last checkpoint stays\n", who, patience_);
  } else {
    std::this_thread::sleep_for(std::chrono::duration<double>(kGrace / 2));  // so that it is said before all end
  }
  std::fflush(stderr);
  transport_->abort(1);
  std::abort();  // not reached, which the compiler does not see
}

void Ranks::abort(const std::string& reason) {
  if (alone()) return;
  fmt::print(stderr, "heed: {}: {}\n", name_of(rank()), reason);
  std::fflush(stderr);
  transport_->abort(1);
}

// Bruck et al. 1997: block i of rank r is of rank r + i until the end; after step k each has the blocks of 2^k ranks.
std::vector<std::byte> Ranks::gather_bytes(std::span<const std::byte> own) {
  const auto ranks = static_cast<std::size_t>(size()), self = static_cast<std::size_t>(rank());
  const std::size_t block = own.size();
  std::vector<std::byte> all(ranks * block);
  std::copy(own.begin(), own.end(), all.begin());
  for (std::size_t known = 1; known < ranks; known *= 2) {
    const std::size_t bytes = std::min(known, ranks - known) * block;
    Messages messages;
    receive(static_cast<int>((self + known) % ranks), std::span(all).subspan(known * block, bytes), messages);
    send(static_cast<int>((self + ranks - known) % ranks), std::span(all).first(bytes), messages);
    wait(messages);
  }
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>((ranks - self) % ranks * block), all.end());
  return all;
}

std::vector<std::string> Ranks::gather(std::string_view own) {
  if (alone()) return {std::string(own)};
  const std::uint64_t length = own.size();
  const std::vector<std::uint64_t> each = gather_equal(std::span(&length, 1));
  const std::size_t longest = *std::max_element(each.begin(), each.end());
  std::vector<char> block(longest);
  std::copy(own.begin(), own.end(), block.begin());
  const std::vector<char> all = gather_equal(std::span<const char>(block));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < each.size(); ++i) texts.emplace_back(all.data() + i * longest, each[i]);
  return texts;
}

std::string Ranks::from_first(std::string_view own) { return gather(first() ? own : std::string_view()).front(); }

// A binomial tree: a rank hears from the one that has its lowest bit cleared.
void Ranks::share(std::span<Real> numbers) {
  if (alone()) return;
  const auto ranks = static_cast<unsigned>(size()), self = static_cast<unsigned>(rank());
  const unsigned own = self == 0 ? std::bit_ceil(ranks) : self & (0U - self);
  Messages messages;
  if (self != 0) {
    receive(static_cast<int>(self - own), std::as_writable_bytes(numbers), messages);
    wait(messages);
  }
  for (unsigned bit = own / 2; bit > 0; bit /= 2)
    if (self + bit < ranks) send(static_cast<int>(self + bit), bytes_of(numbers), messages);
  wait(messages);
}

Ranks::Failure Ranks::failure_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const std::exception& error) {
    return {std::current_exception(), std::string("!") + error.what()};
  }
}

void Ranks::once(const std::function<void()>& work) {
  if (alone()) return work();
  const Failure failure = first() ? failure_of(work) : Failure{};
  const std::string text = from_first(failure.text);
  if (!text.empty()) throw ErrorOfRanks(text.substr(1), first(), failure.own);
}

void Ranks::together(const std::function<void()>& work) {
  if (alone()) return work();
  const Failure failure = failure_of(work);
  const std::vector<std::string> texts = gather(failure.text);
  const auto failed = std::find_if(texts.begin(), texts.end(), [](const std::string& each) { return !each.empty(); });
  if (failed == texts.end()) return;
  const std::string what = failed->substr(1);
  if (std::all_of(texts.begin(), texts.end(), [&](const std::string& each) { return each == *failed; }))
    throw ErrorOfRanks(what, first(), failure.own);
  throw ErrorOfRanks(fmt::format("{}: {}", name_of(static_cast<int>(failed - texts.begin())), what), first());
}

void Ranks::sum(std::span<Real> numbers, Wire wire) {
  if (alone() || numbers.empty()) return;
  if (!std::has_single_bit(static_cast<unsigned>(size()))) return sum_directly(numbers, wire);
  if (numbers.size() <= kFew) return sum_by_doubling(numbers);
  sum_by_halving(numbers, wire);
}

// At every level of the tree two ranks exchange all they have.
void Ranks::sum_by_doubling(std::span<Real> numbers) {
  received_.resize(numbers.size_bytes());
  for (int distance = 1; distance < size(); distance *= 2) {
    Messages messages;
    receive(rank() ^ distance, received_, messages);
    send(rank() ^ distance, bytes_of(numbers), messages);
    wait(messages);
    add_encoded(received_, Wire::full, numbers);
  }
}

// Rabenseifner 2004, Optimization of collective reduction operations, with the nearest rank first, so that the order of
// the sums is the tree's: at every level two ranks exchange the halves of their range, each adds one, and goes on with
// that; then the same way back, each giving what is summed.
void Ranks::sum_by_halving(std::span<Real> numbers, Wire wire) {
  std::span<Real> range = numbers;
  std::vector<std::span<Real>> ranges;  // of every level, from the whole down
  for (int distance = 1; distance < size(); distance *= 2) {
    ranges.push_back(range);
    const std::span<Real> left = range.first(range.size() / 2), right = range.subspan(range.size() / 2);
    const bool keeps_left = (rank() & distance) == 0;
    add_received(rank() ^ distance, keeps_left ? right : left, keeps_left ? left : right, wire);
    range = keeps_left ? left : right;
  }
  round_as_sent(range, wire);
  for (int distance = size() / 2; distance > 0; distance /= 2) {
    const std::span<Real> whole = ranges.back();
    ranges.pop_back();
    const std::span<Real> left = whole.first(whole.size() / 2), right = whole.subspan(whole.size() / 2);
    const bool has_left = (rank() & distance) == 0;
    swap(rank() ^ distance, has_left ? left : right, has_left ? right : left, wire);
  }
}

// Each rank sums one range of every block, from what all others send it, and sends them the sum.
void Ranks::sum_directly(std::span<Real> numbers, Wire wire) {
  const auto ranks = static_cast<std::size_t>(size()), self = static_cast<std::size_t>(rank());
  for (std::size_t begin = 0; begin < numbers.size(); begin += kDirectBlock) {
    const std::span<Real> block = numbers.subspan(begin, std::min(kDirectBlock, numbers.size() - begin));
    const auto range_of = [&](std::size_t of) {
      const std::size_t from = block.size() * of / ranks;
      return block.subspan(from, block.size() * (of + 1) / ranks - from);
    };
    const std::span<Real> own = range_of(self);
    const std::size_t own_bytes = own.size() * bytes_each(wire);
    std::vector<std::vector<std::byte>> rooms(ranks);
    std::vector<std::vector<Real>> parts(ranks, std::vector<Real>(own.size()));
    received_.resize(ranks * own_bytes);
    Messages messages;
    for (std::size_t other = 0; other < ranks; ++other) {
      if (other == self) continue;
      receive(static_cast<int>(other), std::span(received_).subspan(other * own_bytes, own_bytes), messages);
      send(static_cast<int>(other), encoded(range_of(other), wire, rooms[other]), messages);
    }
    wait(messages);
    for (std::size_t other = 0; other < ranks; ++other)
      if (other != self) decode(std::span(received_).subspan(other * own_bytes, own_bytes), wire, parts[other]);
    std::copy(own.begin(), own.end(), parts[self].begin());
    for (const Addition& addition : additions_in_tree(std::vector<bool>(ranks, true)))
      kernels::accumulate(static_cast<Index>(own.size()), parts[addition.from].data(), parts[addition.to].data());
    std::copy(parts[0].begin(), parts[0].end(), own.begin());
    round_as_sent(own, wire);

    const std::span<const std::byte> sum = encoded(own, wire, rooms[self]);
    std::vector<std::vector<std::byte>> sums(ranks);
    for (std::size_t other = 0; other < ranks; ++other) {
      if (other == self) continue;
      sums[other].resize(range_of(other).size() * bytes_each(wire));
      receive(static_cast<int>(other), sums[other], messages);
      send(static_cast<int>(other), sum, messages);
    }
    wait(messages);
    for (std::size_t other = 0; other < ranks; ++other)
      if (other != self) decode(sums[other], wire, range_of(other));
  }
}

// Gives one range to the partner and adds what it gives to the other.
void Ranks::add_received(int partner, std::span<const Real> given, std::span<Real> kept, Wire wire) {
  Messages sends;
  send(partner, encoded(given, wire, sent_), sends);
  const std::size_t each = bytes_each(wire), piece = kPiece / each, pieces = (kept.size() + piece - 1) / piece;
  received_.resize(std::min(pieces, kPiecesAhead) * kPiece);
  const auto numbers_of = [&](std::size_t i) {
    return kept.subspan(i * piece, std::min(piece, kept.size() - i * piece));
  };
  const auto room_of = [&](std::size_t i) {
    return std::span(received_).subspan(i % kPiecesAhead * kPiece, numbers_of(i).size() * each);
  };
  std::vector<Messages> arriving(pieces);
  for (std::size_t i = 0; i < std::min(pieces, kPiecesAhead); ++i) receive(partner, room_of(i), arriving[i]);
  for (std::size_t i = 0; i < pieces; ++i) {
    wait(arriving[i]);
    add_encoded(room_of(i), wire, numbers_of(i));
    if (i + kPiecesAhead < pieces) receive(partner, room_of(i + kPiecesAhead), arriving[i + kPiecesAhead]);
  }
  wait(sends);
}

// Gives one range to the partner and takes the other from it.
void Ranks::swap(int partner, std::span<const Real> given, std::span<Real> taken, Wire wire) {
  Messages messages;
  if (wire == Wire::full) {
    receive(partner, std::as_writable_bytes(taken), messages);
  } else {
    received_.resize(taken.size() * bytes_each(wire));
    receive(partner, received_, messages);
  }
  send(partner, encoded(given, wire, sent_), messages);
  wait(messages);
  if (wire != Wire::full) decode(received_, wire, taken);
}

}  // namespace heed
