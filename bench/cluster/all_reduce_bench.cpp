#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/train/ranks.h"

// Sums of 1 kB to 100 MB over all ranks by heed::Ranks, in its fixed order, and by MPI_Allreduce, one after the other:
//   mpirun -n 2 all_reduce_bench shm
// prints a JSON line for every size: medians of the slowest rank's seconds.

extern "C" heed::ConnectTransport heed_mpi_connect;

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double seconds_of(Work&& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto began = Clock::now();
  work();
  double own = std::chrono::duration<double>(Clock::now() - began).count(), slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

int run(const std::string& transport) {
  std::string fault;
  Ranks ranks(std::shared_ptr<Transport>(heed_mpi_connect(kTransportVersion, &fault)));
  for (const std::size_t bytes : {1'000UL, 10'000UL, 100'000UL, 1'000'000UL, 10'000'000UL, 100'000'000UL}) {
    const std::size_t count = bytes / sizeof(float);
    std::vector<float> ours(count, 1.0F), theirs(count, 1.0F), result(count);
    std::vector<double> heed_seconds, mpi_seconds;
    const int turns = std::clamp(static_cast<int>(40'000'000 / bytes), 7, 401);
    for (int turn = 0; turn < turns; ++turn) {
      std::fill(ours.begin(), ours.end(), 1.0F);
      heed_seconds.push_back(seconds_of([&] { ranks.sum(ours); }));
      mpi_seconds.push_back(seconds_of([&] {
        MPI_Allreduce(theirs.data(), result.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      }));
    }
    require(ours == result, "the sums differ");  // of ones: exact in any order
    if (ranks.first())
      fmt::print(
          "{{\"transport\": \"{}\", \"ranks\": {}, \"bytes\": {}, \"heed_seconds\": {:.3e}, \"mpi_seconds\": "
          "{:.3e}}}\n",
          transport, ranks.size(), bytes, median(heed_seconds), median(mpi_seconds));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace heed

int main(int count, char** arguments) { return heed::run(count > 1 ? arguments[1] : "unknown"); }
