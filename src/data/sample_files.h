#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/samples.h"
#include "heed/data/text_file.h"

namespace heed {

// One sample of a file as it stands there, before anything is known about kinds.
struct SampleRecord {
  std::vector<std::vector<std::string>> cells;  // of each column in the job's order; an output may have several
  std::vector<std::string> choices;             // of a question, where they are given
  std::string fault;                            // why it cannot be used; empty if it can
  std::string detail;                           // what the report adds to its place: " (photo.jpg)"
  bool surplus = false;                         // a line without a partner, to which no line of links belongs
  Samples::Place place;
  std::size_t set = 0;  // of which set of files, from 0
};

// The lines of a file, of which the first can be looked at before it is read.
class FileLines {
 public:
  explicit FileLines(const std::string& path) : reader_(path) {}
  // Empty of an empty file.
  const std::string& first();
  bool next(std::string& line);
  Index number() const { return looked_ ? 0 : reader_.number(); }
  const std::string& name() const { return reader_.name(); }

 private:
  LineReader reader_;
  bool looked_ = false, found_ = false;  // whether first_ waits to be given, and whether it is there
  std::string first_;
};

// How the records of one file are read. The record comes with its cells and its fault empty.
class SampleFormat {
 public:
  virtual ~SampleFormat() = default;
  // A new file, before its first record.
  virtual void begin(FileLines&) {}
  // False at the end of the file.
  virtual bool next(FileLines& lines, SampleRecord& record) = 0;
};

// The names of each column with its number, and the columns of a file by number.
class ColumnNames {
 public:
  static constexpr int kUnwanted = -1;

  // `given` as in SampleFiles. An unknown name, one that is there twice and one that is missing are Errors.
  ColumnNames(const std::vector<SampleColumn>& columns, const std::vector<std::string>& given);

  // For each column of a file without a header the column of the job, or kUnwanted.
  const std::vector<int>& order() const { return order_; }
  // The same for a file that begins with these cells, if they are a header: every cell is a name, or every column is
  // named. Of several names of one column that are there, its own counts before the others. A header that lacks a
  // column or contradicts the given names is an Error that leads with `file`.
  std::vector<int> header(const std::vector<std::string>& cells, const std::string& file) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Found {
    int column = kUnwanted;
    std::size_t rank = 0;  // of the column's names, its own first
  };
  Found find(std::string_view name) const;

  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> spellings_;  // of each column all its names, in small letters
  bool given_ = false;
  std::vector<int> order_;
};

// Tables have records of cells; the first may be a header.
std::unique_ptr<SampleFormat> tsv_format(ColumnNames names);
std::unique_ptr<SampleFormat> csv_format(ColumnNames names);
// One JSON object per line.
// The fields of one object as cells, in the order of the columns, and what can be chosen if the samples have that.
// Gives what is wrong, or nothing.
std::string read_json_sample(const std::string& line, std::span<const SampleColumn> columns, bool chooses,
                             SampleRecord& record);
std::unique_ptr<SampleFormat> jsonl_format(std::vector<SampleColumn> columns);
// Labels are the words that begin with __label__, the text is all others.
std::unique_ptr<SampleFormat> fasttext_format(const std::vector<SampleColumn>& columns);

// The records of files of any format, one after another.
class SampleRecords {
 public:
  virtual ~SampleRecords() = default;
  virtual bool next(SampleRecord& record) = 0;
  // How many sets of files there are.
  virtual std::size_t sets() const = 0;
};
// What is wrong with names, formats and files that are missing is said at once.
std::unique_ptr<SampleRecords> open_records(const SampleFiles& files, const std::vector<SampleColumn>& columns);
// Those of files that have all columns, one after another; `first` is the first of them where it was looked at already.
std::unique_ptr<SampleRecords> records_in_turn(std::vector<std::string> files, std::optional<FileLines> first,
                                               std::unique_ptr<SampleFormat> format);

// A format that a field has of its own: captions of images, folders of speech, questions. It registers itself.
struct OwnFormat {
  std::string name;         // as --format says it
  std::string description;  // one line
  // Whether the file or folder is of this format, where none is named. Never asked about what is read only once.
  std::function<bool(const std::string& path, const std::vector<SampleColumn>& columns)> knows;
  std::function<std::unique_ptr<SampleRecords>(const SampleFiles& files, const std::vector<SampleColumn>& columns)>
      open;
  // Its texts are cut into words already, by white space, and cutting them further would part what belongs together.
  bool words_are_cut = false;
};
struct RegisterSampleFormat {
  explicit RegisterSampleFormat(OwnFormat format);
};
// Whether files are of a format whose words are cut, as far as it can be told; files that are not there tell nothing.
bool have_cut_words(const SampleFiles& files, const std::vector<SampleColumn>& columns);
// All formats by name, for the help.
std::vector<std::string> sample_format_names();

}  // namespace heed
