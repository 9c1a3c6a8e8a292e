#include <algorithm>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/base/utf8.h"
#include "heed/data/blank.h"
#include "heed/data/sample_files.h"
#include "heed/data/sentences.h"

// Files of questions with a blank, as those who made the sets wrote them.
//   cbt      Hill et al. 2016, Children's Book Test: lines `1 …` to `20 …`, then `21
//   question<TAB>answer<TAB><TAB>c1|…|c10` cnn      Hermann et al. 2015, CNN and Daily Mail: a file (or a folder of
//   files) .question of the blocks address,
//            context, question, answer and `@entityN:name` lines, with empty lines between them
//   cmrc     Cui et al. 2016, 2018: lines `n ||| sentence`, then `n ||| question ||| answer` (CFT), or `<qid_n> |||
//            question` with `<qid_n> ||| answer` in another file, whose name has `answer` for `doc_query` (CMRC 2017)
//   cloth    Xie et al. 2018, CLOTH: JSON lines of article, options and answers; each blank of an article is a question
//   lambada  Paperno et al. 2016, LAMBADA: a passage per line, whose last word is the answer

namespace heed {
namespace {

constexpr const char* kNoQuestion = "left out, the question is missing";
constexpr const char* kDamaged = "left out, not a question of this format";
constexpr std::size_t kMostCandidates = 10;  // of the Children's Book Test; some lines have more by mistake

// Where the parts of a question stand among the columns of a job that gives a choice.
struct ClozeColumns {
  explicit ClozeColumns(const std::vector<SampleColumn>& columns) : count(columns.size()) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      (columns[i].output ? answer : columns[i].blank ? question : document) = i;
  }
  void fill(SampleRecord& record, std::string text, std::string asked, std::string answered) const {
    record.cells.assign(count, {});
    record.cells[document] = {std::move(text)};
    record.cells[question] = {std::move(asked)};
    record.cells[answer] = {std::move(answered)};
  }
  std::size_t count, document = 0, question = 0, answer = 0;
};

bool asks_questions(const std::vector<SampleColumn>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const auto& column) { return column.kind == Kind::choice; }) &&
         std::any_of(columns.begin(), columns.end(), [](const auto& column) { return column.blank; });
}

std::vector<std::string> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  return parts;
}

void add_sentence(std::string& document, std::string_view sentence) {
  if (!document.empty()) document += ' ';
  document += sentence;
}

class ChildrensBooks final : public SampleFormat {
 public:
  explicit ChildrensBooks(const std::vector<SampleColumn>& columns) : columns_(columns) {}
  bool next(FileLines& lines, SampleRecord& record) override {
    std::string document;
    for (std::string line; lines.next(line);) {
      record.place = {lines.name(), lines.number()};
      if (line.find_first_not_of(" \t") == std::string::npos) {
        if (document.empty()) continue;
        record.fault = kNoQuestion;
        return true;
      }
      const std::vector<std::string> cells = split_at(line, "\t");
      const std::size_t number = std::min(cells[0].find(' '), cells[0].size() - 1) + 1;
      if (cells.size() == 1) {
        add_sentence(document, std::string_view(line).substr(number));
        continue;
      }
      columns_.fill(record, std::move(document), cells[0].substr(number), cells[1]);
      if (cells.size() > 3) record.choices = split_at(cells[3], "|");
      if (record.choices.size() > kMostCandidates) record.choices.resize(kMostCandidates);
      return true;
    }
    if (document.empty()) return false;
    record.fault = kNoQuestion;
    return true;
  }

 private:
  ClozeColumns columns_;
};

class News final : public SampleFormat {
 public:
  explicit News(const std::vector<SampleColumn>& columns) : columns_(columns) {}
  bool next(FileLines& lines, SampleRecord& record) override {
    std::vector<std::string> blocks;
    bool open = false;
    for (std::string line; lines.next(line);) {
      if (line.empty()) {
        open = false;
      } else if (open) {
        blocks.back() += "\n" + line;
      } else {
        blocks.push_back(line);
        open = true;
      }
    }
    if (blocks.empty()) return false;
    record.place = {lines.name(), 1};
    if (blocks.size() < 4) {
      record.fault = kDamaged;
      return true;
    }
    columns_.fill(record, blocks[1], blocks[2], blocks[3]);
    if (blocks.size() > 4)
      for (const std::string& entity : split_at(blocks[4], "\n"))
        record.choices.push_back(entity.substr(0, entity.find(':')));
    return true;
  }

 private:
  ClozeColumns columns_;
};

// The question files of a folder by name, or the file itself.
std::vector<std::string> question_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".question") files.push_back(entry.path().string());
    require(files.size() > before, "{}: there is no .question file in it", path);
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

class ChineseCloze final : public SampleFormat {
 public:
  explicit ChineseCloze(const std::vector<SampleColumn>& columns) : columns_(columns) {}
  void begin(FileLines& lines) override {
    answers_.clear();
    constexpr std::string_view kQuestions = "doc_query";
    const std::size_t place = lines.name().rfind(kQuestions);
    if (place == std::string::npos) return;
    std::string file = lines.name();
    file.replace(place, kQuestions.size(), "answer");
    LineReader reader(file);
    for (std::string line; reader.next(line);) {
      const std::vector<std::string> cells = split_at(line, kBar);
      require(cells.size() == 2, "{}, line {}: it must be '<qid_n> ||| answer'", file, reader.number());
      answers_[cells[0]] = cells[1];
    }
  }
  bool next(FileLines& lines, SampleRecord& record) override {
    std::string document;
    for (std::string line; lines.next(line);) {
      record.place = {lines.name(), lines.number()};
      const std::vector<std::string> cells = split_at(line, kBar);
      if (cells.size() == 2 && !cells[0].starts_with("<qid")) {
        add_sentence(document, cells[1]);
      } else if (cells.size() == 3) {
        columns_.fill(record, std::move(document), cells[1], cells[2]);
        return true;
      } else if (cells.size() == 2) {
        const auto answer = answers_.find(cells[0]);
        if (answer == answers_.end()) record.fault = "left out, without an answer in the file beside it";
        // Questions that readers asked have no blank: what is asked for stands behind them.
        const std::string question =
            with_blank(cells[1]).blanks > 0 ? cells[1] : fmt::format("{} {}", cells[1], kBlank);
        columns_.fill(record, std::move(document), question, record.fault.empty() ? answer->second : "");
        return true;
      } else if (!line.empty()) {
        record.fault = kDamaged;
        return true;
      }
    }
    if (document.empty()) return false;
    record.fault = kNoQuestion;
    return true;
  }

 private:
  static constexpr std::string_view kBar = " ||| ";
  ClozeColumns columns_;
  std::unordered_map<std::string, std::string> answers_;
};

class Cloth final : public SampleFormat {
 public:
  explicit Cloth(const std::vector<SampleColumn>& columns) : columns_(columns) {}
  bool next(FileLines& lines, SampleRecord& record) override {
    for (std::string line; waiting_.empty();) {
      if (!lines.next(line)) return false;
      SampleRecord all;
      all.place = {lines.name(), lines.number()};
      all.fault = read(valid_utf8(line) ? object_or_null(line) : nlohmann::json(), all);
      if (!all.fault.empty()) waiting_.push_back(std::move(all));
    }
    const std::size_t set = record.set;
    record = std::move(waiting_.front());
    record.set = set;
    waiting_.pop_front();
    return true;
  }

 private:
  // Adds the questions of an article; gives the fault, or nothing.
  std::string read(const nlohmann::json& json, const SampleRecord& place) {
    if (!json.is_object() || !json.contains("article") || !json["article"].is_string() || !json.contains("options") ||
        !json["options"].is_array() || !json.contains("answers") || !json["answers"].is_array())
      return kDamaged;
    const std::string article = json["article"];
    const auto &options = json["options"], &answers = json["answers"];
    std::vector<std::size_t> blanks;  // bytes
    for (std::size_t at = article.find('_'); at < article.size(); at = article.find('_', at)) {
      blanks.push_back(at);
      at = std::min(article.find_first_not_of('_', at), article.size());
    }
    if (options.size() != blanks.size() || answers.size() != blanks.size())
      return fmt::format("left out, blanks, options and answers are not of one number");
    const std::vector<std::size_t> ends = sentence_ends(article);
    for (std::size_t k = 0; k < blanks.size(); ++k) {
      SampleRecord record = place;
      if (!options[k].is_array() || options[k].size() != options[0].size()) {
        record.fault = "left out, options of unequal number";
      } else {
        record.fault = fill(article, blanks, ends, k, options[k], answers[k], record);
      }
      waiting_.push_back(std::move(record));
    }
    return blanks.empty() ? kNoQuestion : "";
  }
  // The sentence of a blank is the question, in which other blanks become dots.
  std::string fill(const std::string& article, const std::vector<std::size_t>& blanks,
                   const std::vector<std::size_t>& ends, std::size_t k, const nlohmann::json& options,
                   const nlohmann::json& answer, SampleRecord& record) const {
    for (const auto& option : options) {
      if (!option.is_string()) return kDamaged;
      record.choices.push_back(option.get<std::string>());
    }
    const std::string letter = answer.is_string() ? answer.get<std::string>() : "";
    if (letter.size() != 1 || letter[0] < 'A' || letter[0] - 'A' >= static_cast<int>(record.choices.size()))
      return "left out, the answer is none of the choices";
    const auto last = std::upper_bound(ends.begin(), ends.end(), blanks[k]);
    const std::size_t begin = last == ends.begin() ? 0 : *(last - 1), end = last == ends.end() ? article.size() : *last;
    std::string question;
    for (std::size_t at = begin; at < end; ++at) {
      if (article[at] != '_')
        question += article[at];
      else if (at == blanks[k])
        question += kBlank;
      else if (at == 0 || article[at - 1] != '_')
        question += "…";
    }
    columns_.fill(record, article, std::move(question), record.choices[static_cast<std::size_t>(letter[0] - 'A')]);
    return "";
  }

  ClozeColumns columns_;
  std::deque<SampleRecord> waiting_;  // of an article that was read
};

class Lambada final : public SampleFormat {
 public:
  explicit Lambada(const std::vector<SampleColumn>& columns) : columns_(columns) {}
  bool next(FileLines& lines, SampleRecord& record) override {
    std::string line;
    if (!lines.next(line)) return false;
    record.place = {lines.name(), lines.number()};
    while (!line.empty() && line.back() == ' ') line.pop_back();
    const std::size_t last = line.rfind(' ');
    if (last == std::string::npos || !valid_utf8(line)) {
      record.fault = valid_utf8(line) ? kNoQuestion : "left out, not UTF-8";
      return true;
    }
    const std::vector<std::size_t> ends = sentence_ends(std::string_view(line).substr(0, last));
    if (ends.size() < 2) {
      record.fault = "left out, a passage of one sentence";
      return true;
    }
    const std::size_t cut = ends[ends.size() - 2];
    columns_.fill(record, line.substr(0, cut), fmt::format("{} {}", line.substr(cut, last - cut), kBlank),
                  line.substr(last + 1));
    return true;
  }

 private:
  ClozeColumns columns_;
};

std::string first_line(const std::string& path) {
  if (std::filesystem::is_directory(path)) return "";
  return FileLines(path).first();
}

// The format of one class whose first lines are known by a test.
template <class Format>
OwnFormat cloze_format(const char* name, const char* description, bool (*is_first)(const std::string& line)) {
  return {.name = name,
          .description = description,
          .knows =
              [is_first](const std::string& path, const std::vector<SampleColumn>& columns) {
                return is_first != nullptr && asks_questions(columns) && is_first(first_line(path));
              },
          .open =
              [](const SampleFiles& files, const std::vector<SampleColumn>& columns) {
                require(asks_questions(columns),
                        "[samples] --format {}: these are questions, which this job does not ask", files.format);
                return records_in_turn(question_files(files.files), std::nullopt, std::make_unique<Format>(columns));
              }};
}

OwnFormat with_cut_words(OwnFormat format) {
  format.words_are_cut = true;
  return format;
}

const RegisterSampleFormat childrens_books{cloze_format<ChildrensBooks>(
    "cbt", "questions of the Children's Book Test",
    [](const std::string& line) { return line.starts_with("1 ") && line.find("|||") == std::string::npos; })};
const RegisterSampleFormat chinese_cloze{with_cut_words(
    cloze_format<ChineseCloze>("cmrc", "questions of CMRC 2017 and of People Daily and Children's Fairy Tale",
                               [](const std::string& line) { return line.starts_with("1 ||| "); }))};
const RegisterSampleFormat cloth{
    cloze_format<Cloth>("cloth", "questions of CLOTH, each blank one", [](const auto& line) {
      return line.starts_with("{") && line.find("\"article\"") != std::string::npos &&
             line.find("\"options\"") != std::string::npos && line.find("\"answers\"") != std::string::npos;
    })};
const RegisterSampleFormat lambada{
    cloze_format<Lambada>("lambada", "passages of LAMBADA, whose last word is the answer", nullptr)};

OwnFormat news_format() {
  OwnFormat format = cloze_format<News>("cnn", "questions of CNN and Daily Mail, a file each", nullptr);
  format.knows = [](const std::string& path, const std::vector<SampleColumn>& columns) {
    return asks_questions(columns) && (path.ends_with(".question") || std::filesystem::is_directory(path));
  };
  return format;
}
const RegisterSampleFormat news{with_cut_words(news_format())};

}  // namespace
}  // namespace heed
