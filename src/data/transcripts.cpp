#include "heed/data/transcripts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

// 01:02:03.250, with the mark between seconds and milliseconds.
std::string clock(double seconds, char mark) {
  const long long all = std::llround(std::max(seconds, 0.0) * 1000);
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", all / 3'600'000, all / 60'000 % 60, all / 1000 % 60, mark, all % 1000);
}

std::string written_json(const Transcript& transcript) {
  const auto list = [](const std::vector<TimedWord>& words, const char* name) {
    nlohmann::ordered_json result = nlohmann::json::array();
    for (const TimedWord& word : words)
      result.push_back({{name, word.word},
                        {"start", std::round(word.begin * 1000) / 1000},
                        {"end", std::round(word.end * 1000) / 1000},
                        {"confidence", std::round(word.confidence * 10'000) / 10'000}});
    return result;
  };
  nlohmann::ordered_json result{{"file", transcript.name},
                                {"duration", std::round(transcript.seconds * 1000) / 1000},
                                {"text", text_of(transcript)},
                                {"words", list(transcript.words, "word")}};
  if (!transcript.units.empty()) result["units"] = list(transcript.units, "unit");
  if (!transcript.doubts.empty()) result["doubts"] = transcript.doubts;
  return result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

std::string written_srt(const Transcript& transcript) {
  std::string result;
  int number = 0;
  for (const Cue& cue : cues_of(transcript.words))
    result += fmt::format("{}\n{} --> {}\n{}\n\n", ++number, clock(cue.begin, ','), clock(cue.end, ','), cue.text);
  return result;
}

std::string written_vtt(const Transcript& transcript) {
  std::string result = "WEBVTT\n\n";
  for (const Cue& cue : cues_of(transcript.words)) {
    result += fmt::format("{} --> {}\n", clock(cue.begin, '.'), clock(cue.end, '.'));
    for (const char c : cue.text)
      result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    result += "\n\n";
  }
  return result;
}

// A tier of a TextGrid has no gaps: what is between words has an empty text. No interval is empty.
std::vector<TimedWord> intervals_of(std::span<const TimedWord> words, double seconds) {
  constexpr double kShortest = 0.001;
  const auto exact = [](double time) { return std::round(time * 1e6) / 1e6; };
  std::vector<TimedWord> intervals;
  double at = 0;
  for (const TimedWord& word : words) {
    double begin = exact(word.begin);
    if (begin >= at + kShortest)
      intervals.push_back({"", at, begin});
    else
      begin = at;
    at = std::max(exact(word.end), exact(begin + kShortest));
    intervals.push_back({word.word, begin, at});
  }
  if (intervals.empty() || exact(seconds) >= at + kShortest)
    intervals.push_back({"", at, std::max(exact(seconds), kShortest)});
  return intervals;
}

std::string written_textgrid(const Transcript& transcript) {
  struct Tier {
    const char* name;
    std::vector<TimedWord> intervals;
  };
  std::vector<Tier> tiers{{"words", intervals_of(transcript.words, transcript.seconds)}};
  if (!transcript.units.empty()) tiers.push_back({"units", intervals_of(transcript.units, transcript.seconds)});
  double end = 0;
  for (const Tier& tier : tiers) end = std::max(end, tier.intervals.back().end);
  std::string result = fmt::format(
      "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0 \nxmax = {} \ntiers? <exists> \nsize = {} \n"
      "item []: \n",
      end, tiers.size());
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    std::vector<TimedWord>& intervals = tiers[t].intervals;
    intervals.back().end = end;
    result += fmt::format(
        "    item [{}]:\n        class = \"IntervalTier\" \n        name = \"{}\" \n        xmin = 0 \n        xmax = "
        "{} \n"
        "        intervals: size = {} \n",
        t + 1, tiers[t].name, end, intervals.size());
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      std::string text;
      for (const char c : intervals[i].word) text += c == '"' ? "\"\"" : std::string(1, c);
      result += fmt::format(
          "        intervals [{}]:\n            xmin = {} \n            xmax = {} \n            text = \"{}\" \n",
          i + 1, intervals[i].begin, intervals[i].end, text);
    }
  }
  return result;
}

struct Format {
  std::string (*write)(const Transcript&);
  bool follows;
};
const Format& format_named(const std::string& name) {
  static const std::vector<Format> formats{
      {[](const Transcript& transcript) { return text_of(transcript) + '\n'; }, true},
      {written_json, true},
      {written_srt, false},
      {written_vtt, false},
      {[](const Transcript& transcript) { return ctm_lines(transcript.name, transcript.words); }, true},
      {written_textgrid, false}};
  const std::vector<std::string>& names = transcript_formats();
  const auto found = std::find(names.begin(), names.end(), name);
  require(found != names.end(), "[transcript] there is no format {}{}; there are {}", name, did_you_mean(name, names),
          fmt::join(names, ", "));
  return formats[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

std::string text_of(const Transcript& transcript) {
  std::string text;
  for (const TimedWord& word : transcript.words) text += (text.empty() ? "" : " ") + word.word;
  return text;
}

const std::vector<std::string>& transcript_formats() {
  static const std::vector<std::string> names{"txt", "json", "srt", "vtt", "ctm", "textgrid"};
  return names;
}

bool can_follow_one_another(const std::string& format) { return format_named(format).follows; }

std::string written_transcript(const Transcript& transcript, const std::string& format) {
  return format_named(format).write(transcript);
}

std::vector<Cue> cues_of(std::span<const TimedWord> words) {
  std::vector<Cue> cues;
  for (const TimedWord& word : words) {
    if (!cues.empty() && word.begin - cues.back().end < kPauseSeconds &&
        word.end - cues.back().begin <= kLongestCueSeconds &&
        cues.back().text.size() + 1 + word.word.size() <= kLongestCue) {
      cues.back().end = std::max(cues.back().end, word.end);
      cues.back().text += ' ' + word.word;
    } else {
      cues.push_back({word.begin, word.end, word.word});
    }
  }
  return cues;
}

std::string ctm_lines(const std::string& name, std::span<const TimedWord> words) {
  std::string id = name;  // columns are cut at spaces
  std::replace(id.begin(), id.end(), ' ', '_');
  std::string lines;
  for (const TimedWord& word : words)
    lines += fmt::format("{} 1 {:.3f} {:.3f} {} {:.4f}\n", id, word.begin, word.end - word.begin, word.word,
                         word.confidence);
  return lines;
}

std::vector<Transcript> read_ctm(const std::string& path) {
  LineReader lines(path);
  std::vector<Transcript> transcripts;
  std::unordered_map<std::string, std::size_t> places;
  for (std::string line; lines.next(line);) {
    const std::vector<std::string_view> cells = words_of_line(line);
    if (cells.empty() || cells[0].starts_with(";;")) continue;
    const auto number = [&](std::size_t i) {
      double value = 0;
      const auto [end, fault] = std::from_chars(cells[i].data(), cells[i].data() + cells[i].size(), value);
      require(fault == std::errc() && end == cells[i].data() + cells[i].size() && std::isfinite(value) && value >= 0,
              "{}:{}: {} is no time and no confidence", path, lines.number(), cells[i]);
      return value;
    };
    require(cells.size() == 5 || cells.size() == 6,
            "{}:{}: a line of CTM is <utterance> <channel> <begin> <duration> <word> [confidence], not {} columns",
            path, lines.number(), cells.size());
    const auto [place, is_new] = places.try_emplace(std::string(cells[0]), transcripts.size());
    if (is_new) transcripts.push_back({.name = place->first});
    Transcript& transcript = transcripts[place->second];
    const double begin = number(2), end = begin + number(3);
    transcript.words.push_back({std::string(cells[4]), begin, end, cells.size() == 6 ? number(5) : 1});
    transcript.seconds = std::max(transcript.seconds, end);
  }
  return transcripts;
}

}  // namespace heed
