#include "heed/data/pair_lines.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kFirstShown = 5;

bool only_space(std::string_view text) { return words_of_line(text).empty(); }

}  // namespace

void PairReport::Fault::add(const std::string& file, Index number) {
  if (++count <= static_cast<Index>(kFirstShown)) first.push_back(fmt::format("{}:{}", file, number));
}

std::string PairReport::text() const {
  std::string text = fmt::format("{} pairs of lines{}, {} used", lines, complete ? "" : " so far", kept);
  const auto list = [&](const Fault& fault, std::string_view what) {
    if (fault.count == 0) return;
    text += fmt::format("\n  {} {}: {}{}", fault.count, what, fmt::join(fault.first, ", "),
                        fault.count > static_cast<Index>(fault.first.size()) ? " ..." : "");
  };
  list(invalid_utf8, "left out, not UTF-8");
  list(empty, "left out, a side is empty");
  list(too_long, "left out, too long");
  list(columns, "left out, not two columns");
  list(unpaired, "left out, the other file has fewer lines");
  list(bad_alignment, "used without their alignment, which does not fit");
  return text;
}

PairLines::PairLines(const std::vector<std::string>& source_files, const std::vector<std::string>& target_files,
                     const std::string& tsv, const std::string& alignments)
    : source_files_(source_files.begin(), source_files.end()), target_files_(target_files.begin(), target_files.end()) {
  if (!tsv.empty()) {
    require(source_files.empty() && target_files.empty(),
            "[pairs] either one TSV file or files of each side, not both");
    tsv_.emplace(tsv);
  } else {
    require(!source_files.empty(), "[pairs] there is no file of sentences");
    require(source_files.size() == target_files.size(), "[pairs] {} source files do not pair with {} target files",
            source_files.size(), target_files.size());
    const auto count = [](const auto& files) { return std::count(files.begin(), files.end(), "-"); };
    require(count(source_files) + count(target_files) <= 1, "[pairs] the standard input can be only one of the files");
    // One that is missing is found before the others are read.
    for (const auto* files : {&source_files, &target_files})
      for (const std::string& file : *files)
        if (file != "-") LineReader{file};
  }
  if (!alignments.empty()) alignments_.emplace(alignments);
}

bool PairLines::next(Line& line) {
  while (next_pair(line)) {
    ++report_.lines;
    line.number = number_++;
    std::string links;
    line.links_valid = true;
    line.links.clear();
    if (alignments_) {
      const bool there = alignments_->next(links);
      std::optional<WordLinks> read = there ? read_word_links(links) : std::nullopt;
      line.links_valid = read.has_value();
      if (read) line.links = std::move(*read);
      line.source_words = words_of_line(line.source).size();
      line.target_words = words_of_line(line.target).size();
    }
    if (usable(line)) return true;
  }
  std::string rest;
  while (alignments_ && alignments_->next(rest)) report_.bad_alignment.add(alignments_->name(), alignments_->number());
  return false;
}

bool PairLines::next_pair(Line& line) { return tsv_ ? next_of_tsv(line) : next_of_files(line); }

bool PairLines::next_of_tsv(Line& line) {
  for (std::string text; tsv_->next(text);) {
    const std::vector<std::string_view> columns = columns_of_line(text);
    line.file = tsv_->name();
    line.file_line = tsv_->number();
    if (columns.size() == 2) {
      line.source = columns[0];
      line.target = columns[1];
      return true;
    }
    report_.columns.add(line.file, line.file_line);
    ++report_.lines;
    ++number_;
    std::string skipped;
    if (alignments_) alignments_->next(skipped);
  }
  return false;
}

bool PairLines::next_of_files(Line& line) {
  while (true) {
    if (!source_) {
      if (source_files_.empty()) return false;
      source_.emplace(source_files_.front());
      target_.emplace(target_files_.front());
      source_files_.pop_front();
      target_files_.pop_front();
    }
    const bool source = source_->next(line.source), target = target_->next(line.target);
    line.file = source_->name();
    line.file_line = source_->number();
    if (source && target) return true;
    if (!source && !target) {
      source_.reset();
      target_.reset();
      continue;
    }
    const LineReader& longer = source ? *source_ : *target_;
    report_.unpaired.add(longer.name(), longer.number());
    ++report_.lines;
    ++number_;
  }
}

bool PairLines::usable(const Line& line) {
  if (!valid_utf8(line.source) || !valid_utf8(line.target)) {
    report_.invalid_utf8.add(line.file, line.file_line);
    return false;
  }
  if (only_space(line.source) || only_space(line.target)) {
    report_.empty.add(line.file, line.file_line);
    return false;
  }
  return true;
}

}  // namespace heed
