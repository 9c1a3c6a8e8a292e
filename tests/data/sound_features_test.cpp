#include "heed/data/sound_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <thread>

#include "heed/base/file.h"
#include "heed/data/sound_sense.h"
#include "support/messages.h"

namespace heed {
namespace {

using test::message_of;

// A tone and one that rises, in whole numbers of 16 bits; with noise, if wanted.
std::vector<float> chirp(double rate, std::size_t count, bool noise) {
  std::vector<float> samples;
  std::uint32_t state = 1;
  for (std::size_t n = 0; n < count; ++n) {
    using std::numbers::pi;
    const double t = static_cast<double>(n) / rate;
    double x = 8000 * std::sin(2 * pi * 440 * t) + 4000 * std::sin(2 * pi * (200 * t + 3000 * t * t));
    state = (1103515245U * state + 12345U) % 0x80000000U;
    if (noise) x += static_cast<double>(state % 2000) - 1000;
    samples.push_back(static_cast<float>(std::floor(x + 0.5) / 32768));
  }
  return samples;
}

Value sound_of(const std::vector<float>& samples, double rate) {
  Value value{.text = "a.wav", .numbers = Tensor(Shape{static_cast<Index>(samples.size()), 1}), .rate = rate};
  std::copy(samples.begin(), samples.end(), value.numbers.data());
  return value;
}

// Computed in double precision; torchaudio and kaldi-native-fbank differ by up to .0017.
TEST(SoundFeatures, LogMelIsKaldis) {
  const Tensor mel = Spectrum({.energy = false})(chirp(16000, 8000, false));
  ASSERT_EQ(mel.shape(), (Shape{48, 40}));
  double sum = 0;
  for (const Real value : mel.values()) sum += value;
  EXPECT_NEAR(sum, 20275.25, 1);
  EXPECT_NEAR(mel.at({46, 26}), 26.5766, .005);
  EXPECT_EQ(*std::max_element(mel.values().begin(), mel.values().end()), mel.at({46, 26}));
  EXPECT_NEAR(*std::min_element(mel.values().begin(), mel.values().end()), 3.3880, .005);
  const std::vector<Index> bins{0, 1, 5, 10, 15, 20, 25, 30, 35, 39};
  const std::vector<std::pair<Index, std::vector<double>>> rows{
      {0, {12.1340, 13.9936, 20.6195, 12.1315, 6.4262, 4.4413, 5.0641, 5.1838, 5.7469, 6.3297}},
      {10, {9.2276, 8.7936, 17.9420, 17.8718, 12.0355, 5.5827, 4.6818, 5.6481, 6.5126, 7.2149}},
      {24, {8.9143, 8.5176, 17.9329, 11.9207, 9.6991, 22.6118, 6.6172, 5.3614, 6.7559, 6.3955}},
      {47, {10.1603, 9.3486, 17.9381, 11.9247, 5.7348, 6.3498, 19.5757, 8.5718, 5.9640, 6.8888}}};
  for (const auto& [frame, expected] : rows)
    for (std::size_t i = 0; i < bins.size(); ++i) EXPECT_NEAR(mel.at({frame, bins[i]}), expected[i], .005) << frame;
}

TEST(SoundFeatures, AreThoseOfKaldiNativeFbank) {
  const nlohmann::json cases = nlohmann::json::parse(read_file(HEED_SOURCE_DIR "/tests/data/data/sound_cases.json"));
  for (const nlohmann::json& entry : cases["features"]) {
    const double rate = entry["rate"];
    const Spectrum spectrum(
        {.rate = rate, .filters = entry["filters"], .cepstra = entry["cepstra"], .energy = entry["energy"]});
    const Tensor features = spectrum(chirp(rate, entry["count"], true));
    ASSERT_EQ(features.size(0), entry["frames"].get<Index>()) << entry["kind"];
    for (const auto& [frame, row] : entry["rows"].items()) {
      ASSERT_EQ(features.size(1), static_cast<Index>(row.size()));
      for (std::size_t i = 0; i < row.size(); ++i)
        EXPECT_NEAR(features.at({std::stoll(frame), static_cast<Index>(i)}), row[i].get<double>(), .005)
            << entry["kind"] << " at " << rate << ", frame " << frame << ", number " << i;
    }
  }
}

TEST(SoundFeatures, DeltasOfBothSchools) {
  const Tensor features(Shape{6, 1}, {1, 2, 4, 7, 11, 16});
  const std::vector<double> first{.7, 1.5, 2.5, 3.5, 3.3, 2.3}, htk{.44, .74, .72, .24, -.16, -.34},
      kaldi{.63, .84, .72, .24, -.42, -.93};
  const Tensor of_htk = with_deltas(features, 2), of_kaldi = with_deltas(features, 2, DeltaEnds::kaldi);
  ASSERT_EQ(of_htk.shape(), (Shape{6, 3}));
  for (Index t = 0; t < 6; ++t) {
    const auto i = static_cast<std::size_t>(t);
    EXPECT_EQ(of_htk.at({t, 0}), features.at({t, 0}));
    EXPECT_NEAR(of_htk.at({t, 1}), first[i], 1e-5);
    EXPECT_NEAR(of_kaldi.at({t, 1}), first[i], 1e-5);
    EXPECT_NEAR(of_htk.at({t, 2}), htk[i], 1e-5);
    EXPECT_NEAR(of_kaldi.at({t, 2}), kaldi[i], 1e-5);
  }
}

TEST(SoundFeatures, ManyThreadsShareAPlan) {
  const Spectrum spectrum({});
  const std::vector<float> samples = chirp(16000, 8000, true);
  const Tensor expected = spectrum(samples);
  std::vector<std::thread> threads;
  std::vector<Tensor> found(4);
  for (std::size_t i = 0; i < found.size(); ++i) threads.emplace_back([&, i] { found[i] = Spectrum({})(samples); });
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& one : found)
    EXPECT_TRUE(std::equal(one.values().begin(), one.values().end(), expected.values().begin()));
}

TEST(SoundFeatures, ASenseHas123NumbersPerFrame) {
  SoundSense sense({});
  EXPECT_EQ(sense.width(), 123);
  const Featured heard = sense(sound_of(chirp(16000, 8000, true), 16000));
  EXPECT_EQ(heard.features.shape(), (Shape{48, 123}));
  EXPECT_EQ(heard.frames.step, 0.01);
  EXPECT_NEAR(heard.frames.margin, 0.0075, 1e-12);
  EXPECT_EQ(SoundSense({.features = "mfcc", .deltas = 0}).width(), 13);
}

TEST(SoundFeatures, ASenseNormalisesOverTheCorpus) {
  const std::vector<Value> values{sound_of(chirp(16000, 8000, true), 16000), sound_of(chirp(8000, 9000, true), 8000)};
  SoundSense sense({});
  std::size_t given = 0;
  sense.learn({.next = [&](Value& value) {
    if (given == values.size()) return false;
    value = values[given++];
    return true;
  }});
  std::vector<double> sums(123), squares(123);
  double frames = 0;
  for (const Value& value : values) {
    const Tensor features = sense(value).features;
    frames += static_cast<double>(features.size(0));
    for (Index i = 0; i < features.size(); ++i) {
      const auto column = static_cast<std::size_t>(i % 123);
      sums[column] += features.data()[i], squares[column] += features.data()[i] * features.data()[i];
    }
  }
  for (std::size_t i = 0; i < 123; ++i) {
    EXPECT_NEAR(sums[i] / frames, 0, 1e-4);
    EXPECT_NEAR(squares[i] / frames, 1, 1e-3);
  }
  SoundSense again({});
  const std::vector<NamedTensor> known = sense.knowledge();
  again.recall([&](const std::string& name, const Shape& shape) {
    for (const NamedTensor& tensor : known)
      if (tensor.name == name && tensor.tensor.shape() == shape) return tensor.tensor;
    throw Error("missing");
  });
  const Tensor once = sense(values[1]).features, twice = again(values[1]).features;
  EXPECT_TRUE(std::equal(once.values().begin(), once.values().end(), twice.values().begin()));
}

TEST(SoundFeatures, AFrameStandsForTheStepAroundItsMiddle) {
  const SoundSense sense({.deltas = 0, .normalise = "none"});
  for (const Index at : {1000, 4000, 4079, 4081, 4159, 4161, 7000}) {  // where a click is
    std::vector<float> samples(8000, 0.F);
    samples[static_cast<std::size_t>(at)] = 0.5F;
    const Featured heard = sense(sound_of(samples, 16000));
    const Index width = heard.features.size(1);
    Index loudest = 0;  // by its energy, the last number
    for (Index k = 1; k < heard.features.size(0); ++k)
      if (heard.features.at({k, width - 1}) > heard.features.at({loudest, width - 1})) loudest = k;
    EXPECT_LE(heard.frames.begin(loudest), static_cast<double>(at) / 16000) << at;
    EXPECT_GE(heard.frames.begin(loudest + 1), static_cast<double>(at) / 16000) << at;
  }
}

TEST(SoundFeatures, ASenseTakesFeaturesThatFilesHold) {
  Value value{.text = "a.npy", .numbers = Tensor(Shape{5, 3}, Real{1}), .frame_seconds = 0.01};
  SoundSense sense({.features = "given", .deltas = 1, .normalise = "none"});
  bool more = true;
  sense.learn({.next = [&](Value& next) {
    next = value;
    return std::exchange(more, false);
  }});
  EXPECT_EQ(sense.width(), 6);
  EXPECT_EQ(sense(value).features.shape(), (Shape{5, 6}));
  EXPECT_EQ(sense(value).frames.step, 0.01);
  EXPECT_EQ(sense(value).frames.margin, 0);
  value.numbers = Tensor(Shape{5, 4}, Real{1});
  EXPECT_EQ(message_of([&] { sense(value); }),
            "a.npy: its frames have 8 numbers with their deltas, but the model reads 6");
  EXPECT_EQ(message_of([&] { SoundSense({})(value); }),
            "a.npy: it has ready-made features, but this model hears sounds; see --features");
  EXPECT_EQ(message_of([&] { sense(sound_of({0.F}, 16000)); }),
            "a.wav: it is a sound, but this model reads ready-made features");
}

TEST(SoundFeatures, OddSoundsAreHeardOrRefused) {
  const SoundSense sense({.longest_sound = 2});
  EXPECT_EQ(message_of([&] { sense(sound_of(std::vector<float>(160), 16000)); }),
            "a.wav: 10.0 ms of sound are shorter than one frame of 25 ms");
  EXPECT_EQ(message_of([&] { sense(sound_of(std::vector<float>(48000), 16000)); }),
            "a.wav: 3.0 seconds are longer than 2; see --longest-sound");
  EXPECT_EQ(sense(sound_of(chirp(4000, 4000, false), 4000)).features.size(0), 98);
  for (const Real value : sense(sound_of(std::vector<float>(16000), 16000)).features.values())
    EXPECT_TRUE(std::isfinite(value));  // silence
  Value stereo{.text = "b", .numbers = Tensor(Shape{16000, 2}, Real{0}), .rate = 16000};
  EXPECT_EQ(sense(stereo).features.size(0), 98);
  stereo.numbers.data()[7] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_EQ(message_of([&] { sense(stereo); }), "b: its sample 3 is no number");
  EXPECT_NE(message_of([] { SoundSense({.features = "mels"}); }).find("mel, mfcc, given"), std::string::npos);
  EXPECT_NE(message_of([] { Spectrum({.rate = 8000, .filters = 400}); }).find("too many"), std::string::npos);
}

}  // namespace
}  // namespace heed
