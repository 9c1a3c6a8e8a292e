#include "heed/cli/sample_line.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/white_space.h"
#include "heed/data/sample_files.h"

namespace heed::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A line of several texts that begins so is an object, unless it has tabs as lines of columns do.
bool is_object(const Job& job, const std::string& line) {
  return line.starts_with('{') && job.inputs.size() > 1 && line.find('\t') == std::string::npos;
}

Sample sample_of_object(const Job& job, const std::string& line, const std::string& place) {
  std::vector<SampleColumn> columns = job.sample_columns();
  std::erase_if(columns, [](const SampleColumn& column) { return column.output; });
  SampleRecord record;
  const std::string fault = read_json_sample(line, columns, job.gives_choice(), record);
  require(fault.empty(), "{}: {}", place, fault);
  Sample sample{.choices = std::move(record.choices)};
  for (const JobSide& side : job.inputs)
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].name == side.name) sample.inputs.push_back(open_value(side.kind, record.cells[i].front()));
  return sample;
}

}  // namespace

std::vector<std::string> choices_of(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : split(text, '|');
}

Sample sample_of_line(const Job& job, const std::string& line, const std::string& place, std::string* prefix) {
  if (prefix == nullptr && is_object(job, line)) return sample_of_object(job, line, place);
  std::vector<std::string> cells{line};
  std::vector<std::string> choices;
  const std::size_t wanted = job.inputs.size() + (prefix != nullptr ? 1 : 0);
  if (wanted > 1) {
    cells = split(line, '\t');
    if (job.gives_choice() && cells.size() == wanted + 1) {
      choices = choices_of(cells.back());
      cells.pop_back();
    }
    std::vector<std::string> names;
    for (const JobSide& side : job.inputs) names.push_back(side.name);
    if (prefix != nullptr) names.emplace_back("prefix");
    require(cells.size() == wanted, "{}: it must have {}, separated by tabs, not {}", place, fmt::join(names, " and "),
            cells.size() == 1 ? "1 column" : fmt::format("{} columns", cells.size()));
  }
  if (prefix != nullptr) {
    *prefix = std::move(cells.back());
    cells.pop_back();
  }
  for (std::size_t i = 0; i < cells.size(); ++i)
    require(!job.gives_label() || !is_text(job.inputs[i].kind) || !is_blank(cells[i]), "{}: the {} is empty", place,
            job.inputs[i].name);
  Sample sample{.choices = std::move(choices)};
  for (std::size_t i = 0; i < cells.size(); ++i) sample.inputs.push_back(open_value(job.inputs[i].kind, cells[i]));
  return sample;
}

}  // namespace heed::cli
