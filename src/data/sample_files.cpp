#include "heed/data/sample_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/data/spooled_files.h"

namespace heed {
namespace {

const std::vector<std::string> kGeneralFormats = {"tsv", "csv", "jsonl", "fasttext", "lines"};
constexpr std::string_view kLabelMark = "__label__";

std::vector<OwnFormat>& own_formats() {
  static std::vector<OwnFormat> list;
  return list;
}

// The one that is named, or that knows the first file; nothing if it is a general one.
const OwnFormat* own_format_of(const SampleFiles& files, const std::vector<SampleColumn>& columns) {
  for (const OwnFormat& format : own_formats())
    if (format.name == files.format ||
        (files.format.empty() && !is_read_once(files.files[0]) && format.knows(files.files[0], columns)))
      return &format;
  return nullptr;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<std::string> names_of(const std::vector<SampleColumn>& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const SampleColumn& column : columns) names.push_back(column.name);
  return names;
}

// What the name of a file says about its format; nothing if it says nothing.
std::string format_by_ending(const std::string& file) {
  std::filesystem::path path(lower(file));
  for (const char* packed : {".gz", ".xz", ".zst", ".lz4"})
    if (path.extension() == packed) {
      path.replace_extension();
      break;
    }
  const std::string ending = path.extension().string();
  if (ending == ".json") return "jsonl";
  for (const char* format : {"tsv", "csv", "jsonl"})
    if (ending == std::string(".") + format) return format;
  return "";
}

bool has_label(std::string_view line) {
  const std::vector<std::string_view> words = words_of_line(line);
  return std::any_of(words.begin(), words.end(), [](std::string_view word) { return word.starts_with(kLabelMark); });
}

// What the first line says about the format; nothing if it says nothing. A tab in a file of one column is part of a
// text, unless there are names between the tabs.
std::string format_by_first_line(FileLines& file, const ColumnNames& names) {
  const std::string& line = file.first();
  if (line.starts_with('{')) return "jsonl";
  if (has_label(line)) return "fasttext";
  const std::vector<std::string_view> cells = columns_of_line(line);
  if (cells.size() == 1) return "";
  if (names.order().size() > 1) return "tsv";
  return names.header({cells.begin(), cells.end()}, file.name()).empty() ? "" : "tsv";
}

std::string seen_format(const std::vector<std::string>& files, FileLines& first, const ColumnNames& names) {
  std::string format = format_by_ending(files[0]);
  if (format.empty()) format = format_by_first_line(first, names);
  if (format.empty() && files.size() % names.order().size() == 0) return "lines";
  require(!format.empty(), "{}: its format cannot be seen; say it with --format ({})", first.name(),
          fmt::join(sample_format_names(), ", "));
  for (const std::string& file : files) {
    const std::string other = format_by_ending(file);
    require(other.empty() || other == format, "{}: it is {}, but {} is {}; say the format with --format", file, other,
            first.name(), format);
  }
  return format;
}

// Parallel files: the n-th lines of a set belong together.
class ParallelLines final : public SampleRecords {
 public:
  ParallelLines(std::vector<std::string> files, std::optional<FileLines> first, const ColumnNames& names)
      : files_(std::move(files)), first_(std::move(first)), names_(names.names()), order_(names.order()) {
    require(files_.size() % order_.size() == 0,
            "[samples] {} files of lines are no whole sets of {}: there is one for each of {}", files_.size(),
            order_.size(), fmt::join(names_, ", "));
  }
  std::size_t sets() const override { return files_.size() / order_.size(); }

  bool next(SampleRecord& record) override {
    std::vector<std::string> texts(order_.size());
    while (!open_.empty() || open_set()) {
      const FileLines* longer = nullptr;
      std::size_t there = 0;
      for (std::size_t i = 0; i < open_.size(); ++i) {
        if (!open_[i].next(texts[i])) continue;
        ++there;
        if (!longer) longer = &open_[i];
      }
      if (there == 0) {
        open_.clear();
        continue;
      }
      record.set = set_ - 1;
      record.place = {longer->name(), longer->number()};
      record.surplus = there < open_.size();
      if (record.surplus) {
        record.fault = SampleReport::kUnpaired;
        return true;
      }
      record.cells.resize(names_.size());
      for (std::size_t i = 0; i < texts.size(); ++i)
        if (order_[i] != ColumnNames::kUnwanted)
          record.cells[static_cast<std::size_t>(order_[i])] = {std::move(texts[i])};
      return true;
    }
    return false;
  }

 private:
  bool open_set() {
    if (set_ == sets()) return false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (first_) {
        open_.push_back(std::move(*first_));
        first_.reset();
      } else {
        open_.emplace_back(files_[set_ * order_.size() + i]);
      }
    }
    ++set_;
    return true;
  }

  std::vector<std::string> files_;
  std::optional<FileLines> first_;  // the first file, which was looked at
  std::vector<std::string> names_;
  std::vector<int> order_;
  std::vector<FileLines> open_;  // of one set
  std::size_t set_ = 0;          // the next to be opened
};

// Files that have all columns, one after another.
class FilesInTurn final : public SampleRecords {
 public:
  FilesInTurn(std::vector<std::string> files, std::optional<FileLines> first, std::unique_ptr<SampleFormat> format)
      : files_(std::move(files)), first_(std::move(first)), format_(std::move(format)) {}
  std::size_t sets() const override { return files_.size(); }

  bool next(SampleRecord& record) override {
    while (open_ || open_file()) {
      record.set = set_ - 1;
      if (format_->next(*open_, record)) return true;
      open_.reset();
    }
    return false;
  }

 private:
  bool open_file() {
    if (set_ == files_.size()) return false;
    open_ = std::exchange(first_, std::nullopt);
    if (!open_) open_.emplace(files_[set_]);
    ++set_;
    format_->begin(*open_);
    return true;
  }

  std::vector<std::string> files_;
  std::optional<FileLines> first_;  // the first file, which was looked at
  std::unique_ptr<SampleFormat> format_;
  std::optional<FileLines> open_;
  std::size_t set_ = 0;  // the next to be opened
};

class Fasttext final : public SampleFormat {
 public:
  explicit Fasttext(const std::vector<SampleColumn>& columns) : columns_(columns.size()) {
    const auto inputs = std::count_if(columns.begin(), columns.end(), [](const auto& c) { return !c.output; });
    require(inputs == 1 && columns.size() <= 2,
            "[samples] files of format fasttext have a text and labels, not the columns {}",
            fmt::join(names_of(columns), ", "));
    text_ = columns[0].output ? 1 : 0;
  }
  bool next(FileLines& lines, SampleRecord& record) override {
    std::string line;
    if (!lines.next(line)) return false;
    record.place = {lines.name(), lines.number()};
    std::vector<std::string> labels;
    std::string text;
    for (const std::string_view word : words_of_line(line)) {
      if (word.starts_with(kLabelMark)) {
        labels.emplace_back(word.substr(kLabelMark.size()));
      } else {
        if (!text.empty()) text += ' ';
        text += word;
      }
    }
    record.cells.resize(columns_);
    record.cells[text_] = {std::move(text)};
    if (columns_ == 1) return true;
    if (labels.empty()) record.fault = SampleReport::kUnlabelled;
    record.cells[1 - text_] = std::move(labels);
    return true;
  }

 private:
  std::size_t columns_, text_ = 0;
};

}  // namespace

const std::string& FileLines::first() {
  if (!looked_ && reader_.number() == 0) {
    found_ = reader_.next(first_);
    looked_ = true;
  }
  return first_;
}

bool FileLines::next(std::string& line) {
  if (!std::exchange(looked_, false)) return reader_.next(line);
  line = std::move(first_);
  return found_;
}

ColumnNames::ColumnNames(const std::vector<SampleColumn>& columns, const std::vector<std::string>& given)
    : names_(names_of(columns)), given_(!given.empty()) {
  require(!columns.empty(), "[samples] there is no column to read");
  for (const SampleColumn& column : columns) {
    std::vector<std::string>& spellings = spellings_.emplace_back(1, lower(column.name));
    for (const std::string& name : column.also) spellings.push_back(lower(name));
  }
  for (const std::string& name : given) {
    const bool unwanted = name.empty() || name == "-";
    const int column = unwanted ? kUnwanted : find(name).column;
    require(unwanted || column != kUnwanted, "[samples] there is no column {}{}", name, did_you_mean(name, names_));
    require(unwanted || std::find(order_.begin(), order_.end(), column) == order_.end(),
            "[samples] the columns {} name {} twice", fmt::join(given, ", "), name);
    order_.push_back(column);
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!given_) order_.push_back(static_cast<int>(i));
    require(std::find(order_.begin(), order_.end(), static_cast<int>(i)) != order_.end(),
            "[samples] the columns {} are without {}, which is needed", fmt::join(given, ", "), names_[i]);
  }
}

ColumnNames::Found ColumnNames::find(std::string_view name) const {
  const std::string wanted = lower(name);
  Found best;
  for (std::size_t i = 0; i < spellings_.size(); ++i) {
    const auto found = std::find(spellings_[i].begin(), spellings_[i].end(), wanted);
    const auto rank = static_cast<std::size_t>(found - spellings_[i].begin());
    if (found != spellings_[i].end() && (best.column == kUnwanted || rank < best.rank))
      best = {static_cast<int>(i), rank};
  }
  return best;
}

std::vector<int> ColumnNames::header(const std::vector<std::string>& cells, const std::string& file) const {
  struct Named {
    std::size_t cell = 0, rank = 0;
  };
  std::vector<int> order(cells.size(), kUnwanted);
  std::vector<std::optional<Named>> named(names_.size());
  std::size_t names = 0;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const auto [column, rank] = find(cells[cell]);
    if (column == kUnwanted) continue;
    ++names;
    std::optional<Named>& best = named[static_cast<std::size_t>(column)];
    if (best && best->rank == rank) return {};
    if (best && best->rank < rank) continue;
    if (best) order[best->cell] = kUnwanted;
    order[cell] = column;
    best = {cell, rank};
  }
  const bool complete = std::all_of(named.begin(), named.end(), [](const auto& column) { return column.has_value(); });
  if (names < cells.size() && !complete) return {};
  for (std::size_t i = 0; i < names_.size(); ++i)
    require(std::find(order.begin(), order.end(), static_cast<int>(i)) != order.end(),
            "{}: its header, {}, is without the column {}{}", file, fmt::join(cells, ", "), names_[i],
            did_you_mean(names_[i], cells));
  require(!given_ || order == order_, "{}: its header, {}, contradicts the names given for its columns", file,
          fmt::join(cells, ", "));
  return order;
}

std::unique_ptr<SampleFormat> fasttext_format(const std::vector<SampleColumn>& columns) {
  return std::make_unique<Fasttext>(columns);
}

std::unique_ptr<SampleRecords> open_records(const SampleFiles& files, const std::vector<SampleColumn>& columns) {
  const ColumnNames names(columns, files.columns);
  require(!files.files.empty(), "[samples] there is no file of samples");
  const std::vector<std::string> known = sample_format_names();
  require(files.format.empty() || std::find(known.begin(), known.end(), files.format) != known.end(),
          "[samples] there is no format {}{}", files.format, did_you_mean(files.format, known));
  require(std::count(files.files.begin(), files.files.end(), "-") +
                  std::count(files.alignments.begin(), files.alignments.end(), "-") <=
              1,
          "[samples] the standard input can be only one of the files");
  if (const OwnFormat* own = own_format_of(files, columns)) return own->open(files, columns);
  // One that is missing is found before the others are read.
  for (const std::string& file : files.files)
    if (!is_read_once(file)) LineReader{file};
  std::optional<FileLines> first;
  std::string format = files.format;
  if (format.empty()) {
    first.emplace(files.files[0]);
    format = seen_format(files.files, *first, names);
  }
  if (format == "lines") return std::make_unique<ParallelLines>(files.files, std::move(first), names);
  std::unique_ptr<SampleFormat> reader = format == "tsv"     ? tsv_format(names)
                                         : format == "csv"   ? csv_format(names)
                                         : format == "jsonl" ? jsonl_format(columns)
                                                             : fasttext_format(columns);
  return records_in_turn(files.files, std::move(first), std::move(reader));
}

std::unique_ptr<SampleRecords> records_in_turn(std::vector<std::string> files, std::optional<FileLines> first,
                                               std::unique_ptr<SampleFormat> format) {
  return std::make_unique<FilesInTurn>(std::move(files), std::move(first), std::move(format));
}

RegisterSampleFormat::RegisterSampleFormat(OwnFormat format) {
  std::vector<OwnFormat>& list = own_formats();
  list.insert(std::upper_bound(list.begin(), list.end(), format,
                               [](const OwnFormat& a, const OwnFormat& b) { return a.name < b.name; }),
              std::move(format));
}

bool have_cut_words(const SampleFiles& files, const std::vector<SampleColumn>& columns) {
  std::error_code ignored;
  if (files.files.empty() || (files.format.empty() && !std::filesystem::exists(files.files[0], ignored))) return false;
  const OwnFormat* own = own_format_of(files, columns);
  return own != nullptr && own->words_are_cut;
}

std::vector<std::string> sample_format_names() {
  std::vector<std::string> names = kGeneralFormats;
  for (const OwnFormat& format : own_formats()) names.push_back(format.name);
  return names;
}

}  // namespace heed
