#pragma once

#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/base/real.h"
#include "heed/data/transcripts.h"

// A voice that needs nothing but this program: pulses and noise through resonances that move, in the way of Klatt 1980,
// Software for a cascade/parallel formant synthesizer, with one table of phonemes. Its speech is plain, but the
// phonemes differ in what tells real ones apart, and the time of each is exactly known.

namespace heed {

struct Voice {
  double pitch = 120;    // Hz, at the middle of an utterance
  double formants = 1;   // 1.2: all resonances 20 % higher, as in a shorter throat
  double speed = 1;      // 1.2: all phonemes 20 % shorter
  double breath = 0.02;  // noise in the voice, of the pulses
  double noise = 0.003;  // noise in the room, of the loudest sample
};
// One of endlessly many, from deep and slow to high and fast.
Voice made_up_voice(RandomKey key);

inline constexpr Index kSynthesiserRate = 16'000;  // samples per second

// The words that it can say: digits, colours, commands.
const std::vector<std::string>& spoken_words();
// The phonemes of one of them, in CMU's notation without stress, in small letters. Another word is an Error.
const std::vector<std::string>& phonemes_of(const std::string& word);

struct Speech {
  std::vector<float> samples;    // one channel in -1..1
  std::vector<TimedWord> words;  // with the exact times of each
  std::vector<TimedWord> phonemes;
};
// The words one after another, with a short silence around all and now and then between two. The same for the same key.
Speech speak(const std::vector<std::string>& words, const Voice& voice, RandomKey key);

}  // namespace heed
