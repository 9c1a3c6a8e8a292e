#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/transcripts.h"

// Programs that read a text aloud, where they are installed: Debian's flite and espeak-ng.

namespace heed {

// What one of them said.
struct ReadAloud {
  std::vector<TimedWord> phonemes;  // pauses left out; of espeak-ng without times, both 0
  bool timed = false;
};

// The engines there are: flite and espeak-ng.
const std::vector<std::string>& speech_programs();
// The voices of an engine that differ in who speaks; the last is for tests.
std::vector<std::string> usual_voices(const std::string& engine);

// Has `text` said by a voice into the file `wav`. A program that is missing or fails is an Error. Nothing of the text
// is taken for a command or an option.
ReadAloud read_aloud(const std::string& engine, const std::string& voice, const std::string& text,
                     const std::filesystem::path& wav);

// "pau:0.164 hh:0.255 " as flite -psdur prints it: each phoneme with its end. Pauses are left out.
std::vector<TimedWord> read_flite_durations(const std::string& printed);

}  // namespace heed
