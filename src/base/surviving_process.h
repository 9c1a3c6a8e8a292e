#pragma once

#include <functional>

namespace heed {

// Does work in a process of its own that sees memory as it is now and goes on if this process is killed, with its group
// or its session; waits for it. False if it failed, or took longer than so many seconds and was ended. Other threads
// may be at work meanwhile, but hold no lock that the work needs for more than a moment: the new process has none of
// them to let go of it, and would then take all its time.
bool run_in_surviving_process(const std::function<void()>& work, double seconds);

}  // namespace heed
