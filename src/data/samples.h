#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/data/sample.h"
#include "heed/data/word_links.h"

namespace heed {

// One column of a table of samples: an input of the job or its output.
struct SampleColumn {
  std::string name;
  Kind kind = Kind::text;
  bool output = false;
  std::vector<std::string> also = {};  // other names in headers and JSON; of several that are there, the first counts
  std::string unlabelled = {};         // of a label: what stands there where nobody knows it
  bool blank = false;                  // a question, which has one blank (blank.h)
};

// Files of one split, plain or packed; "-" is the standard input.
struct SampleFiles {
  // Of lines: one file for each column, the n-th lines of all belong together; several such sets follow one another.
  // Of other formats: any number of files, each with all columns.
  std::vector<std::string> files = {};
  std::string format = {};                // one of sample_format_names(); empty: seen from the first file
  std::vector<std::string> columns = {};  // names in the order of the file, "-" for one that nobody wants; empty: those
                                          // of its header, else those of the job
  // Otherwise files of lines that are of unequal length, and files of which too many samples cannot be used, are
  // Errors.
  bool allow_bad_lines = false;
  // Folders and tars in which the files that a column of images or sounds names are looked for, in order; empty: the
  // folder of the file that names them.
  std::vector<std::string> roots = {};
  // Pharaoh files of word links, line by line with the samples: one for all, or one for each set of files.
  std::vector<std::string> alignments = {};
  // A pronunciation dictionary (pronunciations.h): texts that are outputs become their phonemes. Empty: they stay.
  std::string dictionary = {};
};

// What was found. Nothing is left out without being counted here.
struct SampleReport {
  struct Fault {
    std::string what = {};  // begins with "left out" unless the sample is used all the same
    Index count = 0;
    std::vector<std::string> first = {};  // where the first five are: "train.de:17", lines counted from 1
  };
  // Faults that are found in files and in what becomes of them.
  static constexpr const char* kEmpty = "left out, a side is empty";
  static constexpr const char* kUnlabelled = "left out, without a label";
  static constexpr const char* kUnpaired = "left out, the other file has fewer lines";
  static constexpr const char* kNotUtf8 = "left out, not UTF-8";
  static constexpr const char* kZeroByte = "left out, a zero byte in it, as UTF-16 has";
  static constexpr const char* kTooLong = "left out, too long";
  static constexpr const char* kUnreadable = "left out, cannot be read";
  static constexpr const char* kNotInDictionary = "left out, with a word that the dictionary lacks";
  static constexpr const char* kBadLinks = "used without their alignment, which does not fit";

  Index read = 0, kept = 0;
  bool complete = false;      // the files were read to their end
  std::vector<Fault> faults;  // in the order of their first occurrence

  // A fault of a sample that was counted as read and kept; one that is left out is no longer kept.
  void add(const std::string& what, const std::string& where);
  Index left_out() const;
  // An Error where lines have no partner, because one that is missing makes wrong pairs of all below it, and where too
  // many samples cannot be used. What nobody labelled and what is too long is no fault of the files.
  void require_usable() const;
  // More than one, and more than 5 in 100.
  static bool are_too_many(Index bad, Index read) { return bad > 1 && 20 * bad > read; }
  // One line for the sum, and one for each kind of fault.
  std::string text() const;
};

// The samples of files, one after another. A sample that cannot be used is counted in the report and passed over; files
// that cannot be read at all, or names that do not fit the job, are Errors.
//
// Every column has something in it. Texts and labels are UTF-8, a text is one line (line ends inside it become blanks),
// a label or choice is trimmed, a question has one blank, which is written as kBlank, and an answer is one of the
// choices where these are given. A column of another kind holds a path, relative to the folder of its file; that file
// is opened, not decoded.
class Samples {
 public:
  // `columns` in the order of a file without names.
  Samples(SampleFiles files, std::vector<SampleColumn> columns);
  ~Samples();
  Samples(Samples&&) noexcept;
  Samples& operator=(Samples&&) noexcept;

  struct Place {
    std::string file;
    Index line = 0;  // from 1

    std::string text() const;  // "train.de:17"
  };
  // The next usable sample; false at the end.
  bool next(Sample& sample);
  // Of the sample that next() gave:
  const Place& place() const;
  Index number() const;  // over all files, from 0, counting unusable ones
  const WordLinks& links() const;
  bool links_valid() const;  // false: its line of links is missing or is none

  // Back to the first sample, with an empty report. An Error for what can be read only once.
  void rewind();
  SampleReport& report();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace heed
