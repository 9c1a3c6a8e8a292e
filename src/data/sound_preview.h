#pragma once

#include <string>
#include <vector>

#include "heed/data/sample.h"

namespace heed {

// A small picture of a decoded sound as a data: URL of a PNG, for traces: its log-mel spectrogram, time from left to
// right, low sounds at the bottom, loud ones light; of ready-made features the features themselves, each row
// as light as its own numbers are large. As many columns as frames, at most 800. Empty for a sound that is shorter than
// a frame.
std::string sound_preview(const Value& sound);

// The largest amplitude, 0..1, in each of at most 800 equal stretches of what is between two times, in seconds, of a
// decoded sound. None of ready-made features.
std::vector<double> sound_waveform(const Value& sound, double begin, double end);

// A decoded sound as a data: URL of a WAV file, for a page to play; empty for ready-made features.
std::string playable_sound(const Value& sound);

}  // namespace heed
