#include "heed/data/sound_preview.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/base64.h"
#include "heed/data/sample.h"
#include "heed/data/sound_files.h"

namespace heed {
namespace {

// A second that is silent in its first half and loud in one channel of the second.
Value half_silent() {
  Tensor numbers(Shape{8000, 2}, Real{0});
  for (Index i = 4000; i < 8000; ++i) numbers.data()[2 * i] = static_cast<Real>(std::sin(0.3 * static_cast<double>(i)));
  return {.text = "a.wav", .numbers = numbers, .rate = 8000};
}

TEST(SoundPreview, WaveformIsTheLargestAmplitudeOfEachStretch) {
  const std::vector<double> waveform = sound_waveform(half_silent(), 0, 1);
  ASSERT_EQ(waveform.size(), 800U);
  for (std::size_t i = 0; i < waveform.size(); ++i) {
    if (i < 400)
      EXPECT_EQ(waveform[i], 0) << i;
    else
      EXPECT_GT(waveform[i], 0.1) << i;
    EXPECT_LE(waveform[i], 0.5) << i;  // the mean of both channels
  }
  Value features = half_silent();
  features.frame_seconds = 0.01;
  EXPECT_TRUE(sound_waveform(features, 0, 1).empty());
  EXPECT_TRUE(playable_sound(features).empty());
  const Value few{.text = "b.wav", .numbers = Tensor(Shape{3, 1}, Real{-2}), .rate = 8000};
  EXPECT_EQ(sound_waveform(few, 0, 1), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(sound_waveform(few, 1 / 8000.0, 1), (std::vector<double>{1, 1}));
  EXPECT_TRUE(sound_waveform(few, 1, 0).empty());
}

// The first of MFCC is a hundred times the last one: each row has all shades nevertheless.
TEST(SoundPreview, EveryRowOfReadyMadeFeaturesIsSeen) {
  Value features{.text = "a.mfc", .numbers = Tensor(Shape{200, 3}), .frame_seconds = 0.01};
  for (Index t = 0; t < 200; ++t)
    for (Index i = 0; i < 3; ++i)
      features.numbers.data()[t * 3 + i] = static_cast<Real>(t % 20) * (i == 0   ? Real{100}
                                                                        : i == 1 ? Real{1}
                                                                                 : Real{-1});
  const std::string url = sound_preview(features);
  const std::optional<std::string> bytes = from_base64(url.substr(url.find(',') + 1));
  ASSERT_TRUE(bytes);
  const Tensor pixels = decode_value(Kind::image, *bytes, "preview").numbers;
  ASSERT_EQ(pixels.shape(), (Shape{3, 200, 3}));
  for (Index row = 0; row < 3; ++row) {
    double sum = 0;
    for (Index t = 0; t < 200; ++t) sum += static_cast<double>(pixels.at({row, t, 0}));
    EXPECT_NEAR(sum / 200, 0.5, 0.05) << row;
  }
}

TEST(SoundPreview, WhatCanBePlayedIsTheSameSound) {
  constexpr std::string_view kBeginning = "data:audio/wav;base64,";
  const std::string url = playable_sound(half_silent());
  ASSERT_TRUE(url.starts_with(kBeginning));
  const std::optional<std::string> bytes = from_base64(url.substr(kBeginning.size()));
  ASSERT_TRUE(bytes);
  const Value heard = decode_sound(*bytes, "heard");
  EXPECT_EQ(heard.rate, 16000);
  EXPECT_EQ(heard.numbers.size(0), 16000);
  EXPECT_NEAR(sound_waveform(heard, 0, 1)[600], sound_waveform(half_silent(), 0, 1)[600], 0.02);
}

}  // namespace
}  // namespace heed
