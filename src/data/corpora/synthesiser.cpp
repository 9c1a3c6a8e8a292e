#include "heed/data/corpora/synthesiser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "heed/base/error.h"

namespace heed {
namespace {

using Formants = std::array<double, 3>;  // Hz

// What is heard in one phoneme. Stops are silent for the first part of their time, their burst follows.
struct Phoneme {
  double seconds;
  double voice;                // how loud the pulses are
  double hiss, centre, width;  // how loud the noise is, and its band in Hz
  Formants from, to;           // equal but in diphthongs
  double closed = 0;           // share of the time
};

Phoneme vowel(double seconds, Formants from, Formants to) { return {seconds, 1, 0, 1000, 1000, from, to}; }
Phoneme vowel(double seconds, Formants formants) { return vowel(seconds, formants, formants); }
Phoneme sonorant(double seconds, double voice, Formants formants) {
  return {seconds, voice, 0, 1000, 1000, formants, formants};
}
Phoneme fricative(double seconds, double voice, double hiss, double centre, double width, Formants formants) {
  return {seconds, voice, hiss, centre, width, formants, formants};
}
Phoneme stop(double seconds, double voice, double hiss, double centre, double width, Formants formants) {
  return {seconds, voice, hiss, centre, width, formants, formants, 0.6};
}

// Formants of vowels: Peterson, Barney 1952; of others after Klatt 1980.
const std::map<std::string, Phoneme>& phonemes() {
  static const std::map<std::string, Phoneme> table{
      {"iy", vowel(.13, {270, 2290, 3010})},
      {"ih", vowel(.10, {390, 1990, 2550})},
      {"eh", vowel(.12, {530, 1840, 2480})},
      {"ah", vowel(.11, {640, 1190, 2390})},
      {"aa", vowel(.15, {730, 1090, 2440})},
      {"ao", vowel(.15, {570, 840, 2410})},
      {"uw", vowel(.14, {300, 870, 2240})},
      {"ey", vowel(.16, {480, 1900, 2500}, {330, 2250, 2700})},
      {"ay", vowel(.18, {710, 1150, 2450}, {400, 1950, 2550})},
      {"ow", vowel(.16, {560, 950, 2400}, {380, 800, 2300})},
      {"aw", vowel(.18, {720, 1200, 2450}, {400, 900, 2300})},
      {"w", sonorant(.07, .6, {290, 610, 2150})},
      {"y", sonorant(.06, .6, {260, 2200, 3020})},
      {"r", sonorant(.08, .6, {330, 1060, 1380})},
      {"l", sonorant(.07, .6, {360, 1050, 2880})},
      {"m", sonorant(.08, .35, {250, 900, 2200})},
      {"n", sonorant(.08, .35, {250, 1600, 2600})},
      {"s", fricative(.12, 0, .30, 5800, 1800, {320, 1390, 2530})},
      {"z", fricative(.10, .3, .20, 5800, 1800, {240, 1390, 2530})},
      {"f", fricative(.11, 0, .08, 3800, 5000, {340, 1100, 2080})},
      {"v", fricative(.07, .4, .05, 3800, 5000, {220, 1100, 2080})},
      {"th", fricative(.10, 0, .08, 7000, 1500, {320, 1290, 2540})},
      {"p", stop(.09, 0, .25, 900, 900, {400, 1100, 2150})},
      {"t", stop(.09, 0, .40, 4200, 1500, {400, 1600, 2600})},
      {"k", stop(.10, 0, .35, 1900, 500, {300, 1990, 2850})},
      {"b", stop(.07, .25, .15, 800, 900, {200, 1100, 2150})},
      {"d", stop(.07, .25, .25, 3900, 1500, {200, 1600, 2600})},
      {"g", stop(.08, .25, .25, 1800, 500, {200, 1990, 2850})},
      {"pau", {.08, 0, 0, 1000, 1000, {500, 1500, 2500}, {500, 1500, 2500}}},
  };
  return table;
}

const std::map<std::string, std::vector<std::string>>& lexicon() {
  static const std::map<std::string, std::vector<std::string>> words{
      {"zero", {"z", "iy", "r", "ow"}},
      {"one", {"w", "ah", "n"}},
      {"two", {"t", "uw"}},
      {"three", {"th", "r", "iy"}},
      {"four", {"f", "ao", "r"}},
      {"five", {"f", "ay", "v"}},
      {"six", {"s", "ih", "k", "s"}},
      {"seven", {"s", "eh", "v", "ah", "n"}},
      {"eight", {"ey", "t"}},
      {"nine", {"n", "ay", "n"}},
      {"red", {"r", "eh", "d"}},
      {"blue", {"b", "l", "uw"}},
      {"green", {"g", "r", "iy", "n"}},
      {"yellow", {"y", "eh", "l", "ow"}},
      {"brown", {"b", "r", "aw", "n"}},
      {"open", {"ow", "p", "ah", "n"}},
      {"close", {"k", "l", "ow", "z"}},
      {"stop", {"s", "t", "aa", "p"}},
      {"go", {"g", "ow"}},
      {"left", {"l", "eh", "f", "t"}},
      {"right", {"r", "ay", "t"}},
      {"up", {"ah", "p"}},
      {"down", {"d", "aw", "n"}},
      {"light", {"l", "ay", "t"}},
      {"door", {"d", "ao", "r"}},
      {"lamp", {"l", "ah", "m", "p"}},
      {"yes", {"y", "eh", "s"}},
      {"no", {"n", "ow"}},
  };
  return words;
}

// y_n = a x_n + b y_{n-1} + c y_{n-2}: one resonance, with the gain 1 at 0 Hz or, of a band of noise, near 1 at its
// peak.
class Resonance {
 public:
  void tune(double frequency, double bandwidth, bool band) {
    using std::numbers::pi;
    const double radius = std::exp(-pi * bandwidth / kSynthesiserRate);
    const double angle = 2 * pi * std::min(frequency, 0.47 * kSynthesiserRate) / kSynthesiserRate;
    b_ = 2 * radius * std::cos(angle);
    c_ = -radius * radius;
    a_ = band ? (1 - radius) * std::hypot(1 - radius * std::cos(2 * angle), radius * std::sin(2 * angle)) : 1 - b_ - c_;
  }
  double operator()(double x) {
    const double y = a_ * x + b_ * once_ + c_ * twice_;
    twice_ = once_;
    return once_ = y;
  }

 private:
  double a_ = 1, b_ = 0, c_ = 0, once_ = 0, twice_ = 0;
};

// What the voice does at one moment.
struct Moment {
  double voice = 0, hiss = 0, centre = 1000, width = 1000;
  Formants formants{};
};

struct Said {
  const Phoneme* phoneme;
  double begin, end;  // seconds
};

Moment moment_in(const Said& said, double time) {
  const Phoneme& phoneme = *said.phoneme;
  const double share = std::clamp((time - said.begin) / (said.end - said.begin), 0.0, 1.0);
  const bool closed = share < phoneme.closed;
  Moment moment{phoneme.voice * (closed ? .5 : 1), closed ? 0 : phoneme.hiss, phoneme.centre, phoneme.width, {}};
  for (std::size_t i = 0; i < 3; ++i) moment.formants[i] = phoneme.from[i] + share * (phoneme.to[i] - phoneme.from[i]);
  return moment;
}

// Tongue and lips need time: the mean of what the phonemes ask for 15 ms before and after.
Moment smoothed_moment(const std::vector<Said>& said, std::size_t& at, double time) {
  constexpr double kReach = 0.015;
  constexpr int kSteps = 5;
  while (at + 1 < said.size() && said[at].end < time - kReach) ++at;
  Moment mean{0, 0, 0, 0, {}};
  std::size_t phoneme = at;
  for (int step = 0; step < kSteps; ++step) {
    const double asked = time + kReach * (2.0 * step / (kSteps - 1) - 1);
    while (phoneme + 1 < said.size() && said[phoneme].end < asked) ++phoneme;
    const Moment one = moment_in(said[phoneme], asked);
    mean.voice += one.voice / kSteps, mean.hiss += one.hiss / kSteps;
    mean.centre += one.centre / kSteps, mean.width += one.width / kSteps;
    for (std::size_t i = 0; i < 3; ++i) mean.formants[i] += one.formants[i] / kSteps;
  }
  return mean;
}

std::vector<float> sound_of(const std::vector<Said>& said, const Voice& voice, RandomSequence& random) {
  constexpr std::size_t kTuned = 80;  // samples from one tuning of the resonances to the next
  constexpr std::array<double, 3> kBandwidths = {60, 90, 150};
  constexpr double kPulse = 200, kBreath = 17;  // as loud as noise of the loudness 1; breath as loud as the pulses
  const double seconds = said.back().end;
  std::array<Resonance, 5> throat;
  Resonance hiss, glottis;
  glottis.tune(0, 400, false);
  throat[3].tune(3500 * voice.formants, 250, false);
  throat[4].tune(4500 * voice.formants, 300, false);
  std::vector<float> samples(static_cast<std::size_t>(seconds * kSynthesiserRate));
  Moment now;
  std::size_t at = 0;
  double phase = 0, before = 0, loudest = 0;
  for (std::size_t n = 0; n < samples.size(); ++n) {
    const double time = static_cast<double>(n) / kSynthesiserRate;
    if (n % kTuned == 0) {
      now = smoothed_moment(said, at, time);
      for (std::size_t i = 0; i < 3; ++i) throat[i].tune(now.formants[i] * voice.formants, kBandwidths[i], false);
      hiss.tune(now.centre, now.width, true);
    }
    // The pitch falls, and trembles a little.
    const double pitch = voice.pitch * (1.12 - 0.24 * time / seconds) * (1 + 0.02 * std::sin(31 * time));
    phase += pitch / kSynthesiserRate;
    const bool pulse = phase >= 1;
    phase -= pulse ? 1 : 0;
    double x = glottis(now.voice * ((pulse ? kPulse : 0) + voice.breath * kBreath * random.normal()));
    for (Resonance& resonance : throat) x = resonance(x);
    const double spoken = x - before + hiss(now.hiss * random.normal());  // lips let high tones out better
    before = x;
    samples[n] = static_cast<float>(spoken);
    loudest = std::max(loudest, std::abs(spoken));
  }
  for (float& sample : samples)
    sample = static_cast<float>(0.7 * (sample / std::max(loudest, 1e-9) + voice.noise * random.normal()));
  return samples;
}

}  // namespace

Voice made_up_voice(RandomKey key) {
  RandomSequence random(key);
  const double height = random.uniform();  // high voices have short throats
  Voice voice;
  voice.pitch = 85 * std::pow(2.8, height) * (0.95 + 0.1 * random.uniform());
  voice.formants = 0.92 + 0.24 * height + 0.06 * (random.uniform() - 0.5);
  voice.speed = 0.85 + 0.4 * random.uniform();
  voice.breath = 0.005 + 0.04 * random.uniform();
  voice.noise = 0.001 + 0.006 * random.uniform();
  return voice;
}

const std::vector<std::string>& spoken_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> names;
    for (const auto& [word, unused] : lexicon()) names.push_back(word);
    return names;
  }();
  return words;
}

const std::vector<std::string>& phonemes_of(const std::string& word) {
  const auto found = lexicon().find(word);
  require(found != lexicon().end(), "[speech] {} is no word that the synthesiser knows", word);
  return found->second;
}

Speech speak(const std::vector<std::string>& words, const Voice& voice, RandomKey key) {
  RandomSequence random(key);
  std::vector<Said> said;
  double at = 0;
  const auto say = [&](const std::string& name, double stretched) {
    const Phoneme& phoneme = phonemes().at(name);
    const double seconds = phoneme.seconds * stretched * (0.85 + 0.3 * random.uniform()) / voice.speed;
    said.push_back({&phoneme, at, at + seconds});
    at += seconds;
  };
  Speech speech;
  say("pau", 1 + 2 * random.uniform());
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (w > 0 && random.uniform() < 0.25) say("pau", 1);
    const double begin = at;
    for (const std::string& name : phonemes_of(words[w])) {
      say(name, 1);
      speech.phonemes.push_back({name, said.back().begin, at});
    }
    speech.words.push_back({words[w], begin, at});
  }
  say("pau", 1 + 2 * random.uniform());
  speech.samples = sound_of(said, voice, random);
  return speech;
}

}  // namespace heed
