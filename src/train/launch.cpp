#include "heed/train/launch.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "heed/base/shared_library.h"

namespace heed {
namespace {

int number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return -1;
  const std::string_view digits(text);
  int number = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

int first_number_of(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const int number = number_of(variable); number >= 0) return number;
  return -1;
}

// What a launcher says of the processes that it started. Of Slurm's variables those of a step: a batch script has the
// others too, and is one process.
struct Launch {
  int size = first_number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
  int rank = first_number_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  // PMIx alone tells no size: MPI does.
  bool found() const { return size > 1 || (size < 0 && number_of("PMIX_RANK") >= 0); }
};

std::shared_ptr<Ranks> connect() {
  const Launch launch;
  if (!launch.found()) return std::make_shared<Ranks>();
  // Every process has the same fault; one says it, for all.
  const auto require_of_all = [&launch](bool ok, const std::string& text) {
    if (!ok) throw ErrorOfRanks(text, launch.rank <= 0);
  };
  static const SharedLibrary library("libheed_mpi.so.0");
  require_of_all(static_cast<bool>(library),
                 fmt::format("a launcher started {} processes, but libheed_mpi, which connects them, cannot be loaded "
                             "({}). On Debian: apt-get install libopenmpi-dev openmpi-bin, then build heed again",
                             launch.size > 0 ? std::to_string(launch.size) : "several", library.fault()));
  ConnectTransport* connect_transport = nullptr;
  require_of_all(library.find(connect_transport, kConnectName), "libheed_mpi is not of this heed");
  std::string fault;
  const std::shared_ptr<Transport> transport(connect_transport(kTransportVersion, &fault));
  require_of_all(transport != nullptr, fault);
  require_of_all(launch.size < 0 || transport->size() == launch.size,
                 fmt::format("the launcher started {} processes, but MPI sees {}: they cannot reach each other. Start "
                             "them with the mpirun of the MPI that heed was built with; with Slurm: srun --mpi=pmix",
                             launch.size, transport->size()));
  return std::make_shared<Ranks>(transport);
}

}  // namespace

std::shared_ptr<Ranks> launched_ranks() {
  static const std::shared_ptr<Ranks> ranks = connect();
  return ranks;
}

bool is_first_process() {
  const Launch launch;
  return !launch.found() || launch.rank <= 0;
}

void work_as_rank(const std::function<void(const std::shared_ptr<Ranks>&)>& work) {
  const std::shared_ptr<Ranks> ranks = launched_ranks();
  try {
    work(ranks);
  } catch (const ErrorOfRanks&) {
    throw;
  } catch (const std::exception& error) {
    ranks->abort(error.what());
    throw;
  }
}

}  // namespace heed
