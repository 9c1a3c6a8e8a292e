#pragma once

#include <map>
#include <string>

#include "heed/jobs/job.h"

namespace CLI {
class App;
}

namespace heed::cli {

// Which samples a command reads: tables, or a file of lines for each of the job's sides.
struct SampleFlags {
  std::string data, format, columns, images, dictionary;
  bool allow_bad_lines = false;
  std::map<std::string, std::string> lines;  // by the side's name

  // --data, --format, --columns, --images, --dictionary and --allow-bad-lines.
  void add_tables(CLI::App& command);
  // A flag for every side of every job, "--" + prefix + name. Without a prefix -s is the default job's first input and
  // -t its output.
  void add_lines(CLI::App& command, const std::string& prefix = "");
  bool given() const { return !data.empty() || !lines.empty(); }
  // An Error if a side is missing, or is none of the job's.
  SampleFiles files(const Job& job) const;
};

}  // namespace heed::cli
