#include "heed/data/sound_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/data/sound_matrices.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

// tests/reference/make_sound_cases.py writes them.
const std::string kFiles = HEED_SOURCE_DIR "/tests/fuzz/sound/";
std::string file(const std::string& name) { return read_file(kFiles + name); }
Value sound(const std::string& name) { return decode_sound(file(name), name); }

// 440 Hz, at half of the loudest.
double tone(double seconds) { return 0.5 * std::sin(2 * std::numbers::pi * 440 * seconds); }

TEST(SoundFiles, EveryContainerGivesTheTone) {
  struct Expected {
    const char* name;
    double rate, seconds, fault;  // the mean difference: lossy ones are less exact
  };
  for (const auto& [name, rate, seconds, fault] : {Expected{"tone.wav", 16000, .1, 2e-5},
                                                   {"eight_bits.wav", 4000, .1, 5e-3},
                                                   {"float.wav", 8000, .05, 1e-7},
                                                   {"tone.aiff", 8000, .05, 2e-5},
                                                   {"tone.flac", 16000, .1, 2e-5},
                                                   {"tone.ogg", 16000, .1, .02},
                                                   {"tone.opus", 16000, .1, .03},
                                                   {"tone.mp3", 16000, .1, .02}}) {
    const Value value = sound(name);
    EXPECT_EQ(value.rate, rate) << name;
    ASSERT_EQ(value.numbers.rank(), 2) << name;
    EXPECT_EQ(value.numbers.size(1), 1) << name;
    EXPECT_EQ(value.numbers.size(0), std::llround(seconds * rate)) << name;
    double difference = 0;
    for (Index i = 0; i < value.numbers.size(0); ++i)
      difference += std::abs(value.numbers.data()[i] - tone(static_cast<double>(i) / rate));
    EXPECT_LT(difference / static_cast<double>(value.numbers.size(0)), fault) << name;
  }
}

TEST(SoundFiles, ChannelsBecomeTheirMean) {
  const Value value = sound("stereo.wav");
  EXPECT_EQ(value.numbers.shape(), (Shape{800, 1}));
  for (Index i = 0; i < 800; ++i) {
    const double t = static_cast<double>(i) / 8000;
    EXPECT_NEAR(value.numbers.data()[i], (tone(t) + tone(2 * t)) / 2, 1e-6);
  }
}

TEST(SoundFiles, WhatIsCutOffIsAnError) {
  for (const char* name : {"tone.wav", "stereo.wav", "tone.flac", "tone.ogg", "tone.opus", "rows.npy", "float.ark",
                           "columns.ark", "text.ark"}) {
    const std::string bytes = file(name);
    const std::string message =
        message_of([&] { decode_sound(std::string_view(bytes).substr(0, bytes.size() * 2 / 3), name); });
    EXPECT_TRUE(message.starts_with(std::string(name) + ": ")) << message;
  }
  const std::string wav = file("tone.wav");
  EXPECT_EQ(message_of([&] { decode_sound(std::string_view(wav).substr(0, 1044), "a.wav"); }),
            "a.wav: it is cut off: 1000 of 3200 bytes of sound are there");
  EXPECT_TRUE(message_of([&] { decode_sound(std::string_view(wav).substr(0, 30), "a.wav"); }).starts_with("a.wav: "));
}

TEST(SoundFiles, WhatIsNoSoundIsAnError) {
  EXPECT_TRUE(message_of([] {
                decode_sound("this is a text\n", "notes.wav");
              }).starts_with("notes.wav: it is no sound that can be read here"));
  EXPECT_TRUE(message_of([] { decode_sound("", "empty.wav"); }).starts_with("empty.wav: "));
  EXPECT_TRUE(message_of([] { decode_sound("this is a text\n", "a.mfc"); }).starts_with("a.mfc: it is no Sphinx file"));
  EXPECT_EQ(message_of([] { decode_sound(wav_bytes({}, 16000), "silent.wav"); }),
            "silent.wav: there is no sound in it");
}

TEST(SoundFiles, ASampleThatIsNoNumberIsAnError) {
  std::string bytes = file("float.wav");
  const float number = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(bytes.data() + bytes.size() - 4, &number, 4);
  EXPECT_EQ(message_of([&] { decode_sound(bytes, "nan.wav"); }), "nan.wav: its sample 399 is no number");
}

TEST(SoundFiles, WhatIsTooLongIsRefusedByItsHeader) {
  const std::vector<float> silence(1000 * 1801, 0.F);
  const std::string message = message_of([&] { decode_sound(wav_bytes(silence, 1000), "talk.wav"); });
  EXPECT_TRUE(message.starts_with("talk.wav: it has 1801 seconds of sound")) << message;
}

TEST(SoundFiles, APartIsNamedByItsTimes) {
  const TemporaryFolder folder;
  std::vector<float> ramp(1000);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i) / 1024;
  const std::string path = (folder.path() / "ramp.wav").string();
  write_file(path, wav_bytes(ramp, 1000));
  const auto part = [&](const std::string& times) {
    return decode_sound(read_sound(path + times), path + times).numbers;
  };
  EXPECT_EQ(part("#t=0.25,0.5").shape(), (Shape{250, 1}));
  EXPECT_FLOAT_EQ(part("#t=0.25,0.5").at({0, 0}), 250.F / 1024);
  EXPECT_EQ(part("#t=0.9").shape(), (Shape{100, 1}));
  EXPECT_EQ(part("#t=,0.1").shape(), (Shape{100, 1}));
  EXPECT_EQ(part("#t=0.9,1.05").shape(), (Shape{100, 1}));  // rounded up a little
  EXPECT_NE(message_of([&] { part("#t=0.5,2"); }).find("its sound ends before 2 seconds"), std::string::npos);
  EXPECT_NE(message_of([&] { part("#t=7"); }).find("its sound ends before 7 seconds"), std::string::npos);
  EXPECT_NE(message_of([&] { part("#t=0.5,0.25"); }).find("it ends before it begins"), std::string::npos);
  EXPECT_EQ(part_name({"a.flac", 12.5, 17.25}), "a.flac#t=12.5,17.25");
  EXPECT_EQ(part_name({"a.flac", 0.0, {}}), "a.flac#t=0");
  EXPECT_EQ(sound_part("a.flac#t=1,2")->file, "a.flac");
  for (const char* name : {"a.flac", "a#t=x.wav", "a#t=.wav", "#t=", "a#t=1,2,3", "a#t=-1"})
    EXPECT_FALSE(sound_part(name)) << name;
}

TEST(SoundFiles, AnotherRateKeepsTheTone) {
  std::vector<float> samples(4000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(tone(static_cast<double>(i) / 4000));
  const std::vector<float> more = resampled(samples, 4000, 16000);
  ASSERT_EQ(more.size(), 16000U);
  for (std::size_t i = 1000; i < 15000; ++i) ASSERT_NEAR(more[i], tone(static_cast<double>(i) / 16000), 1e-3) << i;
}

TEST(SoundMatrices, EveryFormatGivesTheSame) {
  const nlohmann::json cases = nlohmann::json::parse(read_file(HEED_SOURCE_DIR "/tests/data/data/sound_cases.json"));
  for (const char* name : {"rows.npy", "columns.npy", "swapped.npy", "big.mfc", "little.mfc", "float.ark", "double.ark",
                           "text.ark", "columns.ark", "two_bytes.ark", "one_byte.ark"}) {
    const Value value = sound(name);
    EXPECT_EQ(value.frame_seconds, 0.01) << name;
    ASSERT_EQ(value.numbers.shape(), (Shape{9, 13})) << name;
    const auto expected = cases[cases.contains(name) ? name : "float.ark"].get<std::vector<double>>();
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(value.numbers.values()[i], expected[i], 1e-5) << name << " at " << i;
  }
}

TEST(SoundMatrices, AnArchiveIsReadFromAnOffset) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "k.ark").string();
  // The bytes as Kaldi writes them, behind another matrix.
  const std::string second(
      "utt1 \0BFM \4\2\0\0\0\4\3\0\0\0\0\0\200\77\0\0\0\100\0\0\100\100\0\0\200\100\0\0\240\100\0\0\320\100", 44);
  write_file(path, file("float.ark") + second + "utt3  [\n  1 2 3 \n  4 5 6.5 ]\n");
  const std::size_t first = file("float.ark").size();
  for (const std::size_t offset : {first + 5, first + second.size() + 5}) {
    const std::string name = path + ":" + std::to_string(offset);
    const Tensor matrix = decode_sound(read_sound(name), name).numbers;
    EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
    EXPECT_EQ(matrix.at({1, 2}), Real{6.5});
  }
  EXPECT_NE(message_of([&] { read_sound(path + ":99999"); }).find("the archive has"), std::string::npos);
}

TEST(SoundMatrices, WhatIsDamagedIsAnError) {
  const auto fault = [](const std::string& bytes) { return message_of([&] { decode_sound(bytes, "x.ark"); }); };
  const auto matrix = [](std::int32_t rows, std::int32_t columns) {
    std::string bytes("u \0BFM \4", 8);
    bytes.append(reinterpret_cast<const char*>(&rows), 4)
        .append("\4")
        .append(reinterpret_cast<const char*>(&columns), 4);
    return bytes;
  };
  EXPECT_EQ(fault(matrix(0, 4)), "x.ark: it has 0 frames of 4 numbers");
  EXPECT_EQ(fault(matrix(-1, 4)), "x.ark: it has -1 frames of 4 numbers");
  EXPECT_NE(fault(matrix(2000000000, 2000000000)).find("more than can be taken at once"), std::string::npos);
  EXPECT_NE(fault(matrix(1000, 13)).find("it is cut off"), std::string::npos);
  EXPECT_NE(fault(matrix(1, 1) + std::string("\0\0\300\177", 4)).find("frame 0 has a number that is none"),
            std::string::npos);
  EXPECT_NE(fault("u  [\n 1 2\n 3 ]\n").find("frame 1 has 1 numbers, the ones before it 2"), std::string::npos);
  EXPECT_NE(fault("u  [\n 1 x\n 3 ]\n").find("something that is no number"), std::string::npos);
  EXPECT_NE(fault(std::string("u \0BFV \4\1\0\0\0", 12)).find("no matrix that can be read here"), std::string::npos);
}

}  // namespace
}  // namespace heed
