#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/file.h"
#include "heed/data/samples.h"
#include "heed/data/sound_files.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

// Two recordings, one of them in parts.
class SpeechFolder : public testing::Test {
 protected:
  SpeechFolder() {
    write_file(folder_.path() / "long.wav", wav_bytes(std::vector<float>(3000, .25F), 1000));
    write_file(folder_.path() / "short.wav", wav_bytes(std::vector<float>(500, .25F), 1000));
  }
  void write(const char* name, std::string_view text) const { write_file(folder_.path() / name, text); }
  // "seconds text" of each sample of a file or folder below.
  std::vector<std::string> read(const std::string& name, const std::string& format = "") {
    Samples samples({.files = {(folder_.path() / name).string()}, .format = format, .allow_bad_lines = true},
                    {{.name = "sound", .kind = Kind::sound}, {.name = "text", .output = true}});
    std::vector<std::string> found;
    for (Sample sample; samples.next(sample);) {
      const Value sound = decoded(Kind::sound, sample.inputs[0]);
      const double rate = sound.rate > 0 ? sound.rate : 1 / sound.frame_seconds;
      found.push_back(fmt::format("{:.2f} {}", static_cast<double>(sound.numbers.size(0)) / rate, sample.outputs[0]));
    }
    report_ = samples.report().text();
    return found;
  }
  TemporaryFolder folder_;
  std::string report_;
};
using Found = std::vector<std::string>;

TEST_F(SpeechFolder, OfKaldi) {
  write("wav.scp", "rec1 long.wav\nrec2 short.wav\n");
  write("text", "rec1 one two\nrec2 three\nrec3 without sound\n");
  EXPECT_EQ(read(""), (Found{"3.00 one two", "0.50 three"}));
  EXPECT_NE(report_.find("1 left out, without a sound: " + (folder_.path() / "text").string() + ":3"),
            std::string::npos)
      << report_;
  write("segments", "utt1 rec1 0.5 1.25\nutt2 rec1 1.25 3\nutt3 rec2 0 0.5\n");
  write("text", "utt1 one\nutt2 two\nutt3 three\n");
  EXPECT_EQ(read("", "kaldi"), (Found{"0.75 one", "1.75 two", "0.50 three"}));
  write("segments", "utt1 rec1 2\n");
  EXPECT_NE(message_of([&] { read(""); }).find("segments:1: a segment is"), std::string::npos);
}

TEST_F(SpeechFolder, OfKaldiRunsNothing) {
  write("text", "rec1 one\n");
  write("wav.scp", fmt::format("rec1 touch {} |\n", (folder_.path() / "made").string()));
  EXPECT_NE(message_of([&] { read(""); }).find("wav.scp:1: touch"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "made"));
}

TEST_F(SpeechFolder, OfKaldiWithFeatures) {
  write("k.ark", "utt1  [\n  1 2 3 \n  4 5 6.5 ]\n");
  write("feats.scp", "utt1 k.ark:5\n");
  write("text", "utt1 one\n");
  EXPECT_EQ(read(""), (Found{"0.02 one"}));
}

TEST_F(SpeechFolder, OfNemo) {
  write("list.json",
        "{\"audio_filepath\": \"long.wav\", \"text\": \"one\", \"duration\": 3}\n"
        "{\"audio_filepath\": \"long.wav\", \"text\": \"two\", \"offset\": 1, \"duration\": 0.5}\n"
        "{\"text\": \"three\"}\nnonsense\n");
  EXPECT_EQ(read("list.json"), (Found{"3.00 one", "0.50 two"}));
  EXPECT_NE(report_.find("without a sound"), std::string::npos) << report_;
  EXPECT_NE(report_.find("not an object of JSON"), std::string::npos) << report_;
}

TEST_F(SpeechFolder, OfLibriSpeech) {
  const std::filesystem::path chapter = folder_.path() / "19" / "198";
  std::filesystem::create_directories(chapter);
  write_file(chapter / "19-198-0000.wav", wav_bytes(std::vector<float>(250), 1000));
  write_file(chapter / "19-198.trans.txt", "19-198-0000 NORTHANGER ABBEY\n19-198-0001 MISSING\n");
  EXPECT_EQ(read(""), (Found{"0.25 NORTHANGER ABBEY"}));
  EXPECT_NE(report_.find("without a sound"), std::string::npos) << report_;
}

}  // namespace
}  // namespace heed
