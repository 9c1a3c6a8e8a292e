#pragma once

#include <span>
#include <string>
#include <vector>

// What was said, and when: transcripts with times, and the formats that others read.

namespace heed {

struct TimedWord {
  std::string word;
  double begin = 0, end = 0;  // seconds
  double confidence = 1;      // 0 to 1
  bool operator==(const TimedWord&) const = default;
};

struct Transcript {
  std::string name;                      // of the utterance or its file
  double seconds = 0;                    // of the sound
  std::vector<TimedWord> words = {};     // in the order of their begins
  std::vector<TimedWord> units = {};     // what they are made of, such as phonemes; may be empty
  std::vector<std::string> doubts = {};  // why something may be repeated or left out, a sentence each
};

// The words with spaces between.
std::string text_of(const Transcript& transcript);

// The names of the formats: txt, json, srt, vtt, ctm, textgrid.
const std::vector<std::string>& transcript_formats();
// Of several transcripts one may follow another in txt, json (one object per line) and ctm; a file of srt, vtt or
// textgrid has one. An unknown format is an Error.
bool can_follow_one_another(const std::string& format);
std::string written_transcript(const Transcript& transcript, const std::string& format);

// Lines of a subtitle: words that are said without a long pause, at most so many characters and seconds.
struct Cue {
  double begin = 0, end = 0;
  std::string text;
};
inline constexpr std::size_t kLongestCue = 84;                      // bytes: two lines on a screen
inline constexpr double kLongestCueSeconds = 7, kPauseSeconds = 1;  // a pause ends a cue
std::vector<Cue> cues_of(std::span<const TimedWord> words);

// The transcripts of a CTM file, "<utterance> <channel> <begin> <duration> <word> [confidence]" in each line, in the
// order of their first lines. A line that is not of this form is an Error with its number.
std::vector<Transcript> read_ctm(const std::string& path);
// The lines of one transcript's words, or of its units.
std::string ctm_lines(const std::string& name, std::span<const TimedWord> words);

}  // namespace heed
