#include <mpi.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "heed/train/transport.h"

// libheed_mpi: the transport of heed::Ranks over MPI (Message Passing Interface Forum, MPI 3.1). It is a library of its
// own, loaded by train/launch.cpp in processes that a launcher started, so that nobody else needs MPI. It is built
// without exceptions of its own: MPI's errors end all ranks, as is MPI's default.

namespace heed {
namespace {

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    // Nobody else's messages meet ours, such as those of a Python program that uses mpi4py.
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
    MPI_Comm machine;
    MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &neighbours_);
    MPI_Comm_free(&machine);
  }
  ~MpiTransport() override = default;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int neighbours() const override { return neighbours_; }
  std::string machine() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
  }

  Message send(int to, std::span<const std::byte> bytes, Channel channel) override {
    auto request = std::make_unique<MPI_Request>();
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, static_cast<int>(channel), world_,
              request.get());
    return request.release();
  }
  Message receive(int from, std::span<std::byte> bytes, Channel channel) override {
    auto request = std::make_unique<MPI_Request>();
    MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, static_cast<int>(channel), world_,
              request.get());
    return request.release();
  }
  bool arrived(Message& message) override {
    if (message == nullptr) return true;
    auto* request = static_cast<MPI_Request*>(message);
    int done = 0;
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
    delete request;
    message = nullptr;
    return true;
  }

  void forget(Message& message) override {
    if (message == nullptr) return;
    auto* request = static_cast<MPI_Request*>(message);
    MPI_Cancel(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    delete request;
    message = nullptr;
  }

  [[noreturn]] void abort(int code) override {
    MPI_Abort(world_, code);
    std::abort();
  }

 private:
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, neighbours_ = 1;
};

}  // namespace
}  // namespace heed

extern "C" __attribute__((visibility("default"))) heed::Transport* heed_mpi_connect(int version, std::string* fault) {
  if (version != heed::kTransportVersion) {
    *fault = "libheed_mpi belongs to another version of heed";
    return nullptr;
  }
  int begun = 0, ended = 0, level = MPI_THREAD_SINGLE;
  MPI_Finalized(&ended);
  if (ended != 0) {
    *fault = "MPI was already ended in this process";
    return nullptr;
  }
  MPI_Initialized(&begun);
  if (begun != 0) {
    MPI_Query_thread(&level);
  } else {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    std::atexit([] {
      int over = 0;
      MPI_Finalized(&over);
      if (over == 0) MPI_Finalize();
    });
  }
  int major = 0, minor = 0;
  MPI_Get_version(&major, &minor);
  if (major < 3) {
    *fault = "this MPI is of version " + std::to_string(major) + "." + std::to_string(minor) + ", heed needs 3.0";
    return nullptr;
  }
  if (level < MPI_THREAD_SERIALIZED) {
    *fault = "this MPI was built, or begun by this program, without threads (MPI_THREAD_SERIALIZED)";
    return nullptr;
  }
  return new heed::MpiTransport;
}
