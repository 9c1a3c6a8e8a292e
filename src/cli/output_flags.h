#pragma once

#include <CLI/CLI.hpp>

#include "heed/jobs/runner.h"

namespace heed::cli {

// How long what a model writes may be, and what it may not say again.
void add_length_flags(CLI::App& command, RunOptions& options);
// --set NAME=VALUE.
void add_setting_flags(CLI::App& command, RunSettings& settings);
// --no-rerank, for readers.
void add_rerank_flag(CLI::App& command, RunOptions& options);

}  // namespace heed::cli
