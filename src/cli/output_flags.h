#pragma once

#include <CLI/CLI.hpp>

#include "heed/jobs/runner.h"

namespace heed::cli {

// How long what a model writes may be, and what it may not say again.
void add_length_flags(CLI::App& command, RunOptions& options);
// --no-rerank, for readers.
void add_rerank_flag(CLI::App& command, RunOptions& options);

}  // namespace heed::cli
