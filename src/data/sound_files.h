#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/sample.h"

// Sounds as files: WAV, FLAC, Ogg Vorbis, Opus, MP3 and what else libsndfile knows, and features that somebody made
// already (sound_matrices.h). They are the decoder of Kind::sound (sample.h).

namespace heed {

// More is refused before it is decoded, so that a small file cannot fill the memory. A part of a longer recording can
// be named, see SoundPart.
inline constexpr double kLongestSound = 1800;                         // seconds
inline constexpr Index kMostSamples = Index{1800} * 48'000;           // of one channel
inline constexpr Index kLowestRate = 1000, kHighestRate = 1'000'000;  // samples per second

// A part of a file, named as the media fragments of the W3C name it: "talk.flac#t=12.5,17.25", in seconds. Either
// number may be left out: "#t=12.5" goes to the end, "#t=,3" begins at the start.
struct SoundPart {
  std::string file;
  double begin = 0;
  std::optional<double> end = {};
};
// Nothing if the name has no such ending.
std::optional<SoundPart> sound_part(const std::string& name);
// The name of that part.
std::string part_name(const SoundPart& part);

// The bytes of a sound by its name: a file (also in a tar, archive.h), a part of one (as WAV of 16 bits), or a matrix
// in a Kaldi archive by its offset ("feats.ark:1042").
std::string read_sound(const std::string& name);

// Any number of channels becomes one, their mean: numbers [samples, 1] in -1..1 at the rate of the file; of ready-made
// features [frames, width]. What is no sound, is cut off, has no samples or one that is no number, or is longer than
// the limits above is an Error that leads with `name`.
Value decode_sound(std::string_view bytes, const std::string& name);

// A sound of one channel as a WAV file of 16 bits. Samples outside -1..1 are clipped.
std::string wav_bytes(std::span<const float> samples, Index rate);

// The same sound at another rate, by libsoxr in its high quality.
std::vector<float> resampled(std::span<const float> samples, double rate, double wanted);

}  // namespace heed
