#include "heed/cli/sample_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "heed/base/error.h"
#include "heed/data/sample_files.h"
#include "heed/jobs/training_options.h"

namespace heed::cli {

void SampleFlags::add_tables(CLI::App& command) {
  command.add_option("--data", data,
                     "Samples: a table (TSV, CSV, JSON lines), or one file of lines per column, separated by commas");
  command.add_option(
      "--format", format,
      fmt::format("Format of --data: {} (default: seen from the file)", fmt::join(sample_format_names(), ", ")));
  command.add_option("--columns", columns, "Names of the columns of --data in order, separated by commas");
  command.add_option("--images", images,
                     "Folders or tars (packed or not) of the images or sounds that --data names, separated by commas");
  command.add_option("--dictionary", dictionary,
                     "Pronunciation dictionary (lines of a word and its phonemes): right outputs become phonemes");
  command.add_flag("--allow-bad-lines", allow_bad_lines,
                   "Go on with files of unequal length, or of which more than 5 % of the samples cannot be used");
}

void SampleFlags::add_lines(CLI::App& command, const std::string& prefix) {
  std::set<std::string> known;
  for (const Job& job : jobs())
    for (const JobSide* side : job.sides()) {
      // A flag of the command itself comes first; such a side is given by --data.
      if (!known.insert(side->name).second || command.get_option_no_throw("--" + prefix + side->name)) continue;
      std::string flags = "--" + prefix + side->name;
      if (prefix.empty() && side == &default_job().inputs.front()) flags += ",-s";
      if (prefix.empty() && side == &default_job().output) flags += ",-t";
      command.add_option_function<std::string>(
          flags, [this, name = side->name](const std::string& file) { lines[name] = file; },
          fmt::format("File of {}, one per line ({})", side->help, job.name));
    }
}

SampleFiles SampleFlags::files(const Job& job) const {
  require(data.empty() || lines.empty(), "--data: it takes the place of files of lines");
  SampleFiles files;
  files.allow_bad_lines = allow_bad_lines;
  files.dictionary = dictionary;
  if (!data.empty()) {
    files.files = parse_list(data);
    files.format = format;
    files.columns = parse_list(columns);
    files.roots = parse_list(images);
    return files;
  }
  files.format = "lines";
  for (const auto& [name, file] : lines)
    require(std::find(job.columns.begin(), job.columns.end(), name) != job.columns.end(), "--{}: {} has no such side",
            name, job.name);
  for (const std::string& column : job.columns) {
    require(lines.contains(column), "--{}: it is missing; {} reads a file for every side, or --data", column, job.name);
    files.files.push_back(lines.at(column));
  }
  return files;
}

}  // namespace heed::cli
