#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/jobs/training_options.h"

namespace CLI {
class App;
}

namespace heed::cli {

// Adds a flag for every option of training of any job but the named ones, with other names beside ours. What is
// given goes to `give` as it was written.
void add_training_flags(CLI::App& command, const std::vector<std::string>& without,
                        const std::function<void(GivenOption)>& give);

// A line on the standard error, where all that is told about a training goes.
void say(const std::string& line);

}  // namespace heed::cli
