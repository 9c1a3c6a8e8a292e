#include "heed/data/corpora/speech_corpus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "heed/base/file.h"
#include "heed/data/corpora/speech_programs.h"
#include "heed/data/corpora/synthesiser.h"
#include "heed/data/samples.h"
#include "heed/data/transcripts.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

TEST(SpeechCorpus, SpeechIsTimedAndAudible) {
  const Speech speech = speak({"seven", "go"}, {}, RandomKey{1});
  ASSERT_EQ(speech.words.size(), 2U);
  ASSERT_EQ(speech.phonemes.size(), 7U);
  EXPECT_EQ(speech.phonemes[0].word, "s");
  EXPECT_EQ(speech.words[0].begin, speech.phonemes[0].begin);
  EXPECT_EQ(speech.words[1].end, speech.phonemes[6].end);
  for (std::size_t i = 1; i < speech.phonemes.size(); ++i)
    EXPECT_GE(speech.phonemes[i].begin, speech.phonemes[i - 1].end);
  const auto power = [&](double begin, double end) {
    double sum = 0;
    const auto first = static_cast<std::size_t>(begin * kSynthesiserRate),
               last = static_cast<std::size_t>(end * kSynthesiserRate);
    for (std::size_t i = first; i < last; ++i) sum += speech.samples[i] * speech.samples[i];
    return sum / static_cast<double>(last - first);
  };
  const TimedWord& vowel = speech.phonemes[1];
  EXPECT_GT(power(vowel.begin, vowel.end), 100 * power(0, speech.words[0].begin - 0.02));  // than the silence before
  for (const float sample : speech.samples) ASSERT_LE(std::abs(sample), 1.F);
}

TEST(SpeechCorpus, EveryWordCanBeSaid) {
  EXPECT_GE(spoken_words().size(), 20U);
  const Speech speech = speak(spoken_words(), made_up_voice(RandomKey{3}), RandomKey{4});
  EXPECT_EQ(speech.words.size(), spoken_words().size());
  for (const float sample : speech.samples) ASSERT_TRUE(std::isfinite(sample));
  EXPECT_NE(message_of([] { speak({"xylophone"}, {}, {}); }).find("xylophone"), std::string::npos);
}

TEST(SpeechCorpus, FilesBelongTogether) {
  const TemporaryFolder folder;
  const SpeechCorpusOptions options{.folder = folder.path(), .utterances = 12, .valid = .2, .test = .3, .longest = 2};
  const SpeechCorpusCounts counts = write_speech_corpus(options);
  EXPECT_EQ(counts.train + counts.valid + counts.test, 12);
  EXPECT_GT(counts.train, 0);
  Samples samples({.files = {(folder.path() / "train.tsv").string()}},
                  {{.name = "sound", .kind = Kind::sound}, {.name = "text", .output = true}});
  const std::vector<Transcript> gold = read_ctm((folder.path() / "train.ctm").string()),
                                phonemes = read_ctm((folder.path() / "train.phonemes.ctm").string());
  ASSERT_EQ(gold.size(), static_cast<std::size_t>(counts.train));
  ASSERT_EQ(phonemes.size(), gold.size());
  std::size_t number = 0;
  for (Sample sample; samples.next(sample); ++number) {
    EXPECT_EQ(sample.outputs[0], text_of(gold[number]));
    const Value sound = decoded(Kind::sound, sample.inputs[0]);
    EXPECT_EQ(sound.rate, 16000);
    EXPECT_LT(gold[number].seconds, static_cast<double>(sound.numbers.size(0)) / sound.rate);
    EXPECT_NE(sample.inputs[0].text.find(gold[number].name), std::string::npos);
  }
  EXPECT_EQ(number, gold.size());
  // Whose voice each is in; nobody who speaks in the test does so in training.
  std::set<std::string> training, test;
  for (auto [part, voices] : {std::pair{"train", &training}, {"test", &test}}) {
    std::istringstream lines(read_file(folder.path() / (std::string(part) + ".utt2spk")));
    Index spoken = 0;
    for (std::string name, voice; lines >> name >> voice; ++spoken) voices->insert(voice);
    EXPECT_EQ(spoken, std::string(part) == "train" ? counts.train : counts.test);
  }
  for (const std::string& voice : test) EXPECT_FALSE(training.contains(voice)) << voice;
  const std::string before = read_file(folder.path() / "test.phonemes.tsv");
  EXPECT_NE(message_of([&] { write_speech_corpus(options); }).find("--force"), std::string::npos);
  SpeechCorpusOptions again = options;
  again.force = true;
  write_speech_corpus(again);
  EXPECT_EQ(read_file(folder.path() / "test.phonemes.tsv"), before);  // the same seed, the same corpus
}

TEST(SpeechCorpus, SmallOnesHaveEveryPartThatIsWanted) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const TemporaryFolder folder;
    const SpeechCorpusCounts counts = write_speech_corpus(
        {.folder = folder.path(), .utterances = 4, .valid = .02, .test = .02, .seed = seed, .longest = 1});
    EXPECT_EQ(counts.train, 2);
    EXPECT_EQ(counts.valid, 1);
    EXPECT_EQ(counts.test, 1);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "sounds" / "valid-00001.wav"));
  }
  const TemporaryFolder folder;
  EXPECT_EQ(write_speech_corpus({.folder = folder.path(), .utterances = 3, .valid = 0, .test = 0}).train, 3);
}

TEST(SpeechCorpus, FlitePrintsEnds) {
  const std::vector<TimedWord> phonemes = read_flite_durations(
      "pau:0.164 hh:0.255 ax:0.304 l:0.412 ow:0.548 w:0.663 er:0.789 l:0.971 d:1.071 pau:1.238 \n");
  ASSERT_EQ(phonemes.size(), 8U);
  EXPECT_EQ(phonemes[0], (TimedWord{"hh", .164, .255}));
  EXPECT_EQ(phonemes[7], (TimedWord{"d", .971, 1.071}));
  EXPECT_NE(message_of([] { read_flite_durations("usage: flite"); }).find("usage"), std::string::npos);
  EXPECT_NE(message_of([] { usual_voices("flight"); }).find("flite"), std::string::npos);
}

}  // namespace
}  // namespace heed
