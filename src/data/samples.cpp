#include "heed/data/samples.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/blank.h"
#include "heed/data/pronunciations.h"
#include "heed/data/sample_files.h"
#include "heed/data/spooled_files.h"

namespace heed {
namespace {

constexpr Index kFirstShown = 5;
constexpr Index kLookedAtTogether = 100'000;  // samples between two looks at how many are of no use

bool is_left_out(std::string_view what) { return what.starts_with("left out"); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\v\f\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// What is wrong with the text of a column; nothing if it can be used.
const char* fault_of(const std::vector<std::string>& texts, const SampleColumn& column) {
  const auto any = [&texts](const auto& is) { return std::any_of(texts.begin(), texts.end(), is); };
  if (texts.empty() || any([](const std::string& text) { return trimmed(text).empty(); })) return SampleReport::kEmpty;
  if (!column.unlabelled.empty() && any([&](const std::string& text) { return trimmed(text) == column.unlabelled; }))
    return SampleReport::kUnlabelled;
  return nullptr;
}

// What is wrong with the bytes of a text; nothing if they can be used.
const char* encoding_fault(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return SampleReport::kZeroByte;
  return valid_utf8(text) ? nullptr : SampleReport::kNotUtf8;
}

// What is wrong with the given choices of a sample, which are trimmed and without empty ones afterwards.
std::string fault_of_choices(Sample& sample) {
  std::vector<std::string>& choices = sample.choices;
  for (std::string& choice : choices) choice = trimmed(choice);
  std::erase(choices, "");
  if (repeated_choice(choices)) return "left out, a choice is given twice";
  for (const std::string& answer : sample.outputs)
    if (!choices.empty() && std::find(choices.begin(), choices.end(), answer) == choices.end())
      return "left out, the answer is none of the choices";
  return "";
}

// A text as one line, a label without the space around it.
std::string made_plain(std::string text, Kind kind) {
  if (is_chosen(kind)) return std::string(trimmed(text));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::string Samples::Place::text() const { return fmt::format("{}:{}", file, line); }

void SampleReport::add(const std::string& what, const std::string& where) {
  auto fault = std::find_if(faults.begin(), faults.end(), [&](const Fault& known) { return known.what == what; });
  if (fault == faults.end()) fault = faults.insert(fault, {.what = what});
  if (++fault->count <= kFirstShown) fault->first.push_back(where);
  if (is_left_out(what)) --kept;
}

Index SampleReport::left_out() const {
  Index count = 0;
  for (const Fault& fault : faults)
    if (is_left_out(fault.what)) count += fault.count;
  return count;
}

void SampleReport::require_usable() const {
  Index bad = 0;
  for (const Fault& fault : faults) {
    require(fault.what != kUnpaired,
            "{}: the file beside it has fewer lines; {} of {} have no partner (--allow-bad-lines leaves them out)",
            fault.first.front(), fault.count, read);
    if (is_left_out(fault.what) && fault.what != kUnlabelled && fault.what != kTooLong) bad += fault.count;
  }
  require(!are_too_many(bad, read), "{} of {} samples cannot be used (--allow-bad-lines goes on without them): {}", bad,
          read, text());
}

std::string SampleReport::text() const {
  std::string text = fmt::format("{} samples{}, {} used", read, complete ? "" : " so far", kept);
  for (const Fault& fault : faults)
    text += fmt::format("\n  {} {}: {}{}", fault.count, fault.what, fmt::join(fault.first, ", "),
                        fault.count > static_cast<Index>(fault.first.size()) ? " ..." : "");
  return text;
}

// Samples from records, with the links that belong to them.
class Samples::Reader {
 public:
  Reader(SampleFiles files, std::vector<SampleColumn> columns)
      : files_(std::move(files)), columns_(std::move(columns)) {
    for (const SampleColumn& column : columns_)
      require(!column.output || is_text(column.kind) || is_chosen(column.kind),
              "[samples] the output {} is of kind {}; outputs are texts or labels", column.name, name_of(column.kind));
    if (!files_.dictionary.empty()) dictionary_.emplace(files_.dictionary);
    open();
  }

  void rewind() {
    for (const auto* files : {&files_.files, &files_.alignments})
      for (const std::string& file : *files)
        require(!is_read_once(file), "[samples] {} cannot be read a second time; use a file",
                file == "-" ? "the standard input" : file);
    open();
  }

  bool next(Sample& sample) {
    for (SampleRecord record; records_->next(record); record = {}) {
      given_.number = report_.read;
      ++report_.read;
      ++report_.kept;
      if (!record.surplus) read_links(record.set);
      given_.place = std::move(record.place);
      if (record.fault.empty()) record.fault = read_sample(record, sample);
      if (report_.read % kLookedAtTogether == 0) check();
      if (record.fault.empty()) return true;
      report_.add(record.fault, given_.place.text() + record.detail);
    }
    if (links_file_) {
      open_links(files_.alignments.size() - 1);
      pass_over_links();
    }
    report_.complete = true;
    check();
    return false;
  }

  // What belongs to the sample that was given.
  struct Given {
    Place place;
    Index number = 0;
    WordLinks links;
    bool links_valid = true;
  };
  const Given& given() const { return given_; }
  SampleReport& report() { return report_; }

 private:
  void open() {
    records_ = open_records(files_, columns_);
    const std::size_t alignments = files_.alignments.size();
    require(alignments <= 1 || alignments == records_->sets(),
            "[samples] {} files of alignments for {} sets of files; there is one for all, or one for each", alignments,
            records_->sets());
    report_ = {};
    links_file_.reset();
    links_set_ = 0;
    if (alignments > 0) links_file_.emplace(files_.alignments[0]);
  }

  void check() const {
    if (!files_.allow_bad_lines) report_.require_usable();
  }

  // The fault, or nothing.
  std::string read_sample(SampleRecord& record, Sample& sample) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (is_text(columns_[i].kind) || is_chosen(columns_[i].kind))
        for (const std::string& text : record.cells[i])
          if (const char* fault = encoding_fault(text)) return fault;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (const char* fault = fault_of(record.cells[i], columns_[i])) return fault;
    sample = {};
    sample.choices = std::move(record.choices);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Kind kind = columns_[i].kind;
      if (columns_[i].output) {
        for (std::string& text : record.cells[i]) {
          sample.outputs.push_back(made_plain(std::move(text), kind));
          if (!dictionary_ || !is_text(kind)) continue;
          Pronunciations::Said said = (*dictionary_)(sample.outputs.back());
          if (!said.missing.empty()) {
            record.detail = fmt::format(" ({})", said.missing);
            return SampleReport::kNotInDictionary;
          }
          sample.outputs.back() = std::move(said.phonemes);
        }
      } else if (is_text(kind) || is_chosen(kind)) {
        sample.inputs.push_back({.text = made_plain(std::move(record.cells[i][0]), kind)});
        if (!columns_[i].blank) continue;
        BlankedText question = with_blank(sample.inputs.back().text);
        if (const auto fault = fault_of_blank(question)) return "left out, " + *fault;
        sample.inputs.back().text = std::move(question.text);
      } else {
        std::optional<Value> value = open_file(kind, std::string(trimmed(record.cells[i][0])));
        if (!value) {
          record.detail = fmt::format(" ({})", trimmed(record.cells[i][0]));
          return SampleReport::kUnreadable;
        }
        sample.inputs.push_back(std::move(*value));
      }
    }
    return fault_of_choices(sample);
  }

  // Nothing if it is nowhere, or cannot be opened.
  std::optional<Value> open_file(Kind kind, const std::string& name) const {
    const std::string own = std::filesystem::path(given_.place.file).parent_path().string();
    for (const std::string& root : files_.roots.empty() ? std::vector{own} : files_.roots) {
      try {
        return open_value(kind, (std::filesystem::path(root) / name).string());
      } catch (const Error&) {  // it may be in the next one
      }
    }
    return std::nullopt;
  }

  // The line of links of a sample of this set of files.
  void read_links(std::size_t set) {
    if (!links_file_) return;
    if (files_.alignments.size() > 1) open_links(set);
    std::string line;
    std::optional<WordLinks> read = links_file_->next(line) ? read_word_links(line) : std::nullopt;
    given_.links_valid = read.has_value();
    given_.links = read ? std::move(*read) : WordLinks{};
  }

  // The n-th file of links, when those before it were read to their ends.
  void open_links(std::size_t n) {
    for (; links_set_ < n; links_file_.emplace(files_.alignments[++links_set_])) pass_over_links();
  }

  // Lines of links to which no sample belongs.
  void pass_over_links() {
    std::string line;
    while (links_file_->next(line))
      report_.add(SampleReport::kBadLinks, Place{links_file_->name(), links_file_->number()}.text());
  }

  const SampleFiles files_;
  const std::vector<SampleColumn> columns_;
  std::optional<Pronunciations> dictionary_;
  Given given_;
  SampleReport report_;
  std::unique_ptr<SampleRecords> records_;
  std::optional<LineReader> links_file_;
  std::size_t links_set_ = 0;  // of several files of links, which one is open
};

Samples::Samples(SampleFiles files, std::vector<SampleColumn> columns)
    : reader_(std::make_unique<Reader>(std::move(files), std::move(columns))) {}
Samples::~Samples() = default;
Samples::Samples(Samples&&) noexcept = default;
Samples& Samples::operator=(Samples&&) noexcept = default;

bool Samples::next(Sample& sample) { return reader_->next(sample); }
const Samples::Place& Samples::place() const { return reader_->given().place; }
Index Samples::number() const { return reader_->given().number; }
const WordLinks& Samples::links() const { return reader_->given().links; }
bool Samples::links_valid() const { return reader_->given().links_valid; }
void Samples::rewind() { reader_->rewind(); }
SampleReport& Samples::report() { return reader_->report(); }

}  // namespace heed
