#pragma once

#include <memory>

#include "heed/train/ranks.h"

namespace heed {

// The ranks that a launcher (mpirun, srun) started this process as one of, connected at the first call; a process alone
// otherwise. MPI is only looked for where a launcher's variables are set: without them nothing is loaded. An Error says
// what to install where several processes were started and cannot reach each other.
std::shared_ptr<Ranks> launched_ranks();

// Whether this process is the first or only one, as far as the launcher's variables tell. What is wrong with a command
// line is wrong for all, and said by one.
bool is_first_process();

// Works as one of them. An error that only this rank knows of ends all ranks: the others would wait for it.
void work_as_rank(const std::function<void(const std::shared_ptr<Ranks>&)>& work);

}  // namespace heed
