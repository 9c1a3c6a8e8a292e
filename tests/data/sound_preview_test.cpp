#include "heed/data/sound_preview.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/base64.h"
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
  const std::vector<double> waveform = sound_waveform(half_silent());
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
  EXPECT_TRUE(sound_waveform(features).empty());
  EXPECT_TRUE(playable_sound(features).empty());
  const Value few{.text = "b.wav", .numbers = Tensor(Shape{3, 1}, Real{-2}), .rate = 8000};
  EXPECT_EQ(sound_waveform(few), (std::vector<double>{1, 1, 1}));
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
  EXPECT_NEAR(sound_waveform(heard)[600], sound_waveform(half_silent())[600], 0.02);
}

}  // namespace
}  // namespace heed
