#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace heed {

// How the processes (ranks) that train one model together reach each other: messages between two of them, and nothing
// else. What they say to each other is made of these by Ranks (train/ranks.h). MPI is one implementation
// (src/mpi/mpi_transport.cpp), the threads of a test another. It is used by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // How many of the ranks run on this machine, and what the machine is called.
  virtual int neighbours() const = 0;
  virtual std::string machine() const = 0;

  // Messages of one channel from one rank to another arrive in the order in which they were sent.
  enum class Channel { work, distress };
  // A message on its way; null once it has arrived. The bytes must stay where they are until then.
  using Message = void*;
  virtual Message send(int to, std::span<const std::byte> bytes, Channel channel) = 0;
  virtual Message receive(int from, std::span<std::byte> bytes, Channel channel) = 0;
  // Whether the message has arrived; if so it becomes null.
  virtual bool arrived(Message& message) = 0;
  // Gives up a message that was to be received, and makes it null.
  virtual void forget(Message& message) = 0;

  // Ends the processes of all ranks.
  [[noreturn]] virtual void abort(int code) = 0;
};

// What libheed_mpi exports under the name kConnectName: the ranks that a launcher started, or null and why not. The
// caller says which version of this header it was built with.
constexpr int kTransportVersion = 1;
constexpr const char* kConnectName = "heed_mpi_connect";
using ConnectTransport = Transport*(int version, std::string* fault);

}  // namespace heed
