#include "heed/trace/import.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "heed/base/json-inl.h"
#include "heed/base/spelling.h"
#include "heed/data/word_links.h"
#include "heed/data/text_file.h"
#include "heed/base/utf8.h"
#include "heed/trace/imported_text.h"

namespace heed {
namespace {

constexpr std::size_t kLongestSentence = 2000;  // words; the weights of a pair are then at most 16 MB
constexpr double kMostWeight = 1.001;           // printed numbers are rounded

// A place in a file, for messages.
struct Place {
  const std::string& name;
  std::size_t line;  // from 0

  template <class... Args>
  void check(bool ok, fmt::format_string<Args...> text, Args&&... args) const {
    if (!ok) fail("{}: line {}: {}", name, line + 1, fmt::format(text, std::forward<Args>(args)...));
  }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t bar; (bar = line.find("|||")) != std::string_view::npos; line.remove_prefix(bar + 3))
    fields.push_back(trimmed(line.substr(0, bar)));
  fields.push_back(trimmed(line));
  return fields;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

Real weight_in(std::string_view text, const Place& place) {
  const std::optional<double> weight = number_in<double>(text);
  place.check(weight && *weight >= 0 && *weight <= kMostWeight, "{} is not a weight between 0 and 1", text);
  return static_cast<Real>(*weight);
}

using WeightRows = std::vector<std::vector<Real>>;

// A pair of sentences with what was printed about it: rows of weights, or links.
struct Printed {
  std::string_view source, target;
  Place source_place, target_place;
};

std::vector<std::string_view> words_in(std::string_view text, const Place& place) {
  place.check(valid_utf8(text), "is not UTF-8");
  std::vector<std::string_view> words = words_of_line(text);
  place.check(words.size() <= kLongestSentence, "{} words are no sentence", words.size());
  return words;
}

// The trace of a pair with `rows` × `columns` weights. Either count may be one more than the words.
Trace trace_of(const std::string& system, const Printed& printed, std::size_t rows, std::size_t columns,
               const Place& place) {
  const std::vector<std::string_view> source = words_in(printed.source, printed.source_place);
  const std::vector<std::string_view> target = words_in(printed.target, printed.target_place);
  const auto fits = [&](std::size_t count, std::size_t words, const char* what, const char* side) {
    place.check(
        count == words || count == words + 1,
        "{} {} of weights for {} {} words; were pieces of words put together again? The sentences are needed as "
        "the model read and wrote them",
        count, what, words, side);
  };
  fits(rows, target.size(), "rows", "target");
  fits(columns, source.size(), "columns", "source");
  Trace trace = pair_trace(imported_text(source, columns > source.size()), imported_text(target, rows > target.size()));
  trace.model = place.name, trace.system = system;
  trace.alignment = Tensor(Shape{static_cast<Index>(rows), static_cast<Index>(columns)}, Real{0});
  return trace;
}

Trace soft_trace(const std::string& system, const Printed& printed, const WeightRows& rows, const Place& place) {
  const std::size_t columns = rows.empty() ? words_in(printed.source, printed.source_place).size() : rows[0].size();
  for (const std::vector<Real>& row : rows)
    place.check(row.size() == columns, "rows of {} and of {} weights", columns, row.size());
  Trace trace = trace_of(system, printed, rows.size(), columns, place);
  Real* next = trace.alignment.data();
  for (const std::vector<Real>& row : rows) next = std::copy(row.begin(), row.end(), next);
  return trace;
}

Trace hard_trace(const std::string& system, const Printed& printed, const WordLinks& links, const Place& place) {
  std::size_t rows = words_in(printed.target, printed.target_place).size();
  std::size_t columns = words_in(printed.source, printed.source_place).size();
  const std::size_t source_words = columns, target_words = rows;
  for (const auto& [source, target] : links) {
    const auto s = static_cast<std::size_t>(source), t = static_cast<std::size_t>(target);
    place.check(s <= source_words && t <= target_words, "a link {}-{} between {} source and {} target words", source,
                target, source_words, target_words);
    columns = std::max(columns, s + 1), rows = std::max(rows, t + 1);
  }
  Trace trace = trace_of(system, printed, rows, columns, place);
  for (const auto& [source, target] : links)
    trace.alignment.data()[static_cast<Index>(target) * static_cast<Index>(columns) + source] = Real{1};
  return trace;
}

// "0-0 1-1" or "0.9,0.1 0.2,0.8".
Trace printed_trace(const std::string& system, const Printed& printed, std::string_view alignment, const Place& place) {
  if (const std::optional<WordLinks> links = read_word_links(alignment))
    return hard_trace(system, printed, *links, place);
  WeightRows rows;
  for (std::string_view word : words_of_line(alignment)) {
    rows.emplace_back();
    for (std::size_t comma; (comma = word.find(',')) != std::string_view::npos; word.remove_prefix(comma + 1))
      rows.back().push_back(weight_in(word.substr(0, comma), place));
    rows.back().push_back(weight_in(word, place));
  }
  return soft_trace(system, printed, rows, place);
}

bool blank(std::string_view line) { return words_of_line(line).empty(); }

const NamedLines& needed(const std::optional<NamedLines>& lines, const std::string& format, const char* what) {
  require(lines.has_value(), "[import] {} does not bring the {} sentences; their file is needed", format, what);
  return *lines;
}

void check_counts(const NamedLines& dump, const NamedLines& other) {
  require(dump.lines.size() == other.lines.size(), "{} has {} lines, {} has {}", dump.name, dump.lines.size(),
          other.name, other.lines.size());
}

std::vector<Trace> read_pharaoh(const ImportText& text) {
  const NamedLines& source = needed(text.source, "pharaoh", "source");
  const NamedLines& target = needed(text.target, "pharaoh", "target");
  check_counts(text.dump, source), check_counts(text.dump, target);
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < text.dump.lines.size(); ++i)
    traces.push_back(printed_trace("pharaoh", {source.lines[i], target.lines[i], {source.name, i}, {target.name, i}},
                                   text.dump.lines[i], {text.dump.name, i}));
  return traces;
}

std::vector<Trace> read_marian(const ImportText& text) {
  const NamedLines& source = needed(text.source, "marian", "source");
  std::vector<Trace> traces;
  bool list = false;
  for (std::size_t i = 0; i < text.dump.lines.size(); ++i) {
    const Place place{text.dump.name, i};
    const std::vector<std::string_view> fields = fields_of(text.dump.lines[i]);
    place.check(fields.size() >= 2, "there is no ||| with an alignment behind it; was Marian run with --alignment?");
    std::size_t sentence = i, first = 0;
    if (fields.size() >= 4) {  // a list of n best leads with the sentence and ends with scores
      list = true, first = 1;
      const std::optional<std::size_t> number = number_in<std::size_t>(fields[0]);
      place.check(number.has_value(), "{} is not the number of a sentence", fields[0]);
      sentence = *number;
    }
    place.check(sentence < source.lines.size(), "sentence {} of {} in {}", sentence + 1, source.lines.size(),
                source.name);
    traces.push_back(printed_trace("marian", {source.lines[sentence], fields[first], {source.name, sentence}, place},
                                   fields[first + 1], place));
  }
  if (!list) check_counts(text.dump, source);
  return traces;
}

// Nematus' and Sockeye's blocks: a line about the pair, then a line of weights a row.
std::vector<Trace> read_blocks(const std::string& system, const NamedLines& dump) {
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < dump.lines.size(); ++i) {
    if (blank(dump.lines[i])) continue;
    const Place head{dump.name, i};
    const std::vector<std::string_view> fields = fields_of(dump.lines[i]);
    head.check(fields.size() == 5 || fields.size() == 6,
               "{} fields between |||, not number, target, score, source and counts", fields.size());
    WeightRows rows;
    for (; i + 1 < dump.lines.size() && !blank(dump.lines[i + 1]); ++i) {
      rows.emplace_back();
      head.check(rows.size() <= kLongestSentence + 1, "{} rows are no sentence", rows.size());
      for (const std::string_view word : words_of_line(dump.lines[i + 1]))
        rows.back().push_back(weight_in(word, {dump.name, i + 1}));
    }
    traces.push_back(soft_trace(system, {fields[3], fields[1], head, head}, rows, head));
  }
  return traces;
}

std::vector<Trace> read_nematus_json(const ImportText& text) {
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < text.dump.lines.size(); ++i) {
    if (blank(text.dump.lines[i])) continue;
    const Place place{text.dump.name, i};
    const auto json = parse_json(text.dump.lines[i], fmt::format("{}: line {}", text.dump.name, i + 1));
    place.check(json.is_object() && json.contains("matrix") && json["matrix"].is_array(),
                "is not a JSON object with a \"matrix\"");
    WeightRows rows;
    for (const auto& row : json["matrix"]) {
      place.check(row.is_array(), "a row of the matrix is not a list");
      rows.emplace_back();
      for (const auto& weight : row) {
        const bool fits = weight.is_number() && weight.get<double>() >= 0 && weight.get<double>() <= kMostWeight;
        if (!fits) place.check(false, "{} is not a weight between 0 and 1", weight.dump(-1, ' ', true));
        rows.back().push_back(weight.get<Real>());
      }
    }
    const auto sentence = [&](const char* key, const std::optional<NamedLines>& lines, const char* what) {
      if (json.contains(key)) {
        place.check(json[key].is_string(), "\"{}\" is not a text", key);
        return json[key].get<std::string>();
      }
      const NamedLines& given = needed(lines, "nematus", what);
      place.check(i < given.lines.size(), "{} has only {} lines", given.name, given.lines.size());
      return given.lines[i];
    };
    const std::string source = sentence("source_sent", text.source, "source");
    const std::string target = sentence("target_sent", text.target, "target");
    traces.push_back(soft_trace("nematus", {source, target, place, place}, rows, place));
  }
  return traces;
}

std::string_view first_written(const NamedLines& dump) {
  const auto line = std::find_if_not(dump.lines.begin(), dump.lines.end(), blank);
  return line == dump.lines.end() ? std::string_view() : trimmed(*line);
}

std::vector<Trace> read_nematus(const ImportText& text) {
  return first_written(text.dump).starts_with('{') ? read_nematus_json(text) : read_blocks("nematus", text.dump);
}

std::vector<Trace> read_sockeye(const ImportText& text) {
  if (first_written(text.dump).find("|||") != std::string_view::npos) return read_blocks("sockeye", text.dump);
  const NamedLines& source = needed(text.source, "sockeye's translation_with_alignments", "source");
  check_counts(text.dump, source);
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < text.dump.lines.size(); ++i) {
    const Place place{text.dump.name, i};
    const std::vector<std::string_view> columns = columns_of_line(text.dump.lines[i]);
    place.check(columns.size() == 2, "{} columns between tabs, not target and links", columns.size());
    traces.push_back(
        printed_trace("sockeye", {source.lines[i], columns[0], {source.name, i}, place}, columns[1], place));
  }
  return traces;
}

// What fairseq-generate has said of one sentence so far.
struct FairseqSentence {
  std::optional<std::size_t> source, target, scores;  // lines
};

// A target word's log-probability, printed to base 2. Empty where the scores are of other pieces than the text.
std::vector<double> fairseq_scores(std::string_view text, std::size_t words, const Place& place) {
  std::vector<double> scores;
  for (const std::string_view word : words_of_line(text)) {
    const std::optional<double> score = number_in<double>(word);
    place.check(score && std::isfinite(*score), "{} is not a score", word);
    scores.push_back(*score * std::numbers::ln2);
  }
  if (scores.size() != words && scores.size() != words + 1) return {};
  scores.resize(words);  // without the end's, where that has no row
  return scores;
}

std::vector<Trace> read_fairseq(const ImportText& text) {
  const std::vector<std::string>& lines = text.dump.lines;
  std::map<std::size_t, FairseqSentence> sentences;
  std::multimap<std::size_t, Trace> traces;  // by sentence: batches come ordered by length
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() < 3 || lines[i][1] != '-' ||
        std::string_view("SHPA").find(lines[i][0]) == std::string_view::npos)
      continue;  // what else is logged
    const std::vector<std::string_view> columns = columns_of_line(lines[i]);
    const std::optional<std::size_t> number = number_in<std::size_t>(columns[0].substr(2));
    if (!number) continue;
    const Place place{text.dump.name, i};
    FairseqSentence& sentence = sentences[*number];
    const std::size_t expected = lines[i][0] == 'H' ? 3 : 2;
    place.check(columns.size() == expected, "{} columns between tabs, not {}", columns.size(), expected);
    switch (lines[i][0]) {
      case 'S': sentence.source = i; break;
      case 'H': sentence.target = i, sentence.scores.reset(); break;
      case 'P': sentence.scores = i; break;
      default:
        place.check(sentence.source && sentence.target, "no S-{0} and H-{0} come before A-{0}", *number);
        const auto column = [&](std::size_t line, std::size_t which) { return columns_of_line(lines[line])[which]; };
        Trace trace = printed_trace("fairseq",
                                    {column(*sentence.source, 1),
                                     column(*sentence.target, 2),
                                     {text.dump.name, *sentence.source},
                                     {text.dump.name, *sentence.target}},
                                    columns[1], place);
        if (sentence.scores)
          trace.log_probabilities = fairseq_scores(column(*sentence.scores, 1), trace.output().text.tokens.size(),
                                                   {text.dump.name, *sentence.scores});
        traces.emplace(*number, std::move(trace));
    }
  }
  require(!traces.empty(), "{}: there is no line A-; was fairseq-generate run with --print-alignment?", text.dump.name);
  std::vector<Trace> ordered;
  for (auto& [number, trace] : traces) ordered.push_back(std::move(trace));
  return ordered;
}

struct Importer {
  ImportFormat format;
  std::vector<Trace> (*read)(const ImportText&);
};
const std::vector<Importer>& importers() {
  static const std::vector<Importer> all = {
      {{"marian", "marian-decoder --alignment soft or hard; needs the source"}, read_marian},
      {{"nematus", "Nematus' --output_alignment (amun's too), or JSON"}, read_nematus},
      {{"sockeye", "translation_with_alignment_matrix, or translation_with_alignments with the source"}, read_sockeye},
      {{"fairseq", "fairseq-generate --print-alignment"}, read_fairseq},
      {{"pharaoh", "0-0 1-1 or 0.9,0.1 0.2,0.8; needs the source and the target"}, read_pharaoh}};
  return all;
}

NamedLines lines_of(const std::string& path) {
  LineReader reader(path);
  return {reader.name(), reader.rest()};
}

}  // namespace

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats = [] {
    std::vector<ImportFormat> list;
    for (const Importer& importer : importers()) list.push_back(importer.format);
    return list;
  }();
  return formats;
}

std::vector<Trace> import_traces(const std::string& format, const ImportText& text) {
  std::vector<std::string> known;
  for (const Importer& importer : importers()) {
    if (importer.format.name == format) return importer.read(text);
    known.push_back(importer.format.name);
  }
  fail("[import] there is no format {}{}", format, did_you_mean(format, known));
}

std::vector<Trace> import_traces(const std::string& format, const std::string& dump, const std::string& source,
                                 const std::string& target) {
  ImportText text{lines_of(dump), {}, {}};
  if (!source.empty()) text.source = lines_of(source);
  if (!target.empty()) text.target = lines_of(target);
  return import_traces(format, text);
}

}  // namespace heed
