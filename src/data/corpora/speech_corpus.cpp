#include "heed/data/corpora/speech_corpus.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/data/corpora/grammar.h"
#include "heed/data/corpora/speech_programs.h"
#include "heed/data/corpora/synthesiser.h"
#include "heed/data/sound_files.h"
#include "heed/data/text_file.h"
#include "heed/data/transcripts.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kSpeechParts{"train", "valid", "test"};
constexpr std::size_t kSpeechTest = 2;
constexpr Index kVoicesPerTestVoice = 5;

// One utterance that is to be said, and what became of it.
struct Planned {
  std::size_t part = 0;
  std::string name = {};   // "train-00001"
  std::string voice = {};  // of a program; of our own its number
  std::string text;
  std::vector<TimedWord> words = {}, phonemes = {};
  double seconds = 0;
  std::string fault = {};
};

std::string joined(const std::vector<TimedWord>& words) { return text_of({.name = "", .words = words}); }

// The words of our own synthesiser's utterances.
std::vector<std::string> made_up_sentences(const SpeechCorpusOptions& options) {
  require(options.shortest >= 1 && options.longest >= options.shortest && options.longest <= 100,
          "[speech] utterances have 1 to 100 words, not {} to {}", options.shortest, options.longest);
  RandomSequence random(RandomKey{options.seed}.derive("sentences"));
  const std::vector<std::string>& known = spoken_words();
  std::vector<std::string> sentences(static_cast<std::size_t>(options.utterances));
  for (std::string& sentence : sentences) {
    const auto count = static_cast<std::uint64_t>(options.shortest) +
                       random.below(static_cast<std::uint64_t>(options.longest - options.shortest + 1));
    for (std::uint64_t i = 0; i < count; ++i) sentence += (i > 0 ? " " : "") + known[random.below(known.size())];
  }
  return sentences;
}

// Different sentences for a program, as many as are wanted or there are.
std::vector<std::string> sentences_to_read(const SpeechCorpusOptions& options) {
  std::vector<std::string> sentences;
  const auto wanted = static_cast<std::size_t>(options.utterances);
  if (options.text.empty()) {
    for (const GrammarPair& pair : generate_grammar_pairs(options.utterances, options.seed))
      sentences.push_back(pair.english);
    return sentences;
  }
  LineReader lines(options.text);
  for (std::string line; sentences.size() < wanted && lines.next(line);) {
    std::string sentence;
    for (const std::string_view word : words_of_line(line))
      sentence += (sentence.empty() ? "" : " ") + std::string(word);
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  std::sort(sentences.begin(), sentences.end());
  sentences.erase(std::unique(sentences.begin(), sentences.end()), sentences.end());
  require(!sentences.empty(), "{}: there is no sentence in it", options.text);
  return sentences;
}

// Who says what, and for which part.
std::vector<Planned> plan_of(const SpeechCorpusOptions& options) {
  const bool own = options.engine == "own";
  std::vector<std::string> training = options.training_voices, test = options.test_voices;
  if (own) {
    require(options.voices >= 2, "[speech] one voice speaks in the test alone, so there are at least 2, not {}",
            options.voices);
    for (Index i = 0; i < options.voices; ++i)
      (i % kVoicesPerTestVoice == 1 ? test : training).push_back(std::to_string(i));
  } else {
    const std::vector<std::string> usual = usual_voices(options.engine);
    if (training.empty()) training.assign(usual.begin(), usual.end() - 1);
    if (test.empty()) test = {usual.back()};
  }
  const std::vector<std::string> sentences = own ? made_up_sentences(options) : sentences_to_read(options);
  RandomSequence random(RandomKey{options.seed}.derive("parts"));
  std::array<Index, kSpeechParts.size()> counts{};
  std::vector<Planned> plan;
  const auto give = [&](Planned& planned, std::size_t part) {
    const std::vector<std::string>& voices = part == kSpeechTest ? test : training;
    planned.part = part, planned.voice = voices[random.below(voices.size())];
    ++counts[part];
  };
  for (const std::string& sentence : sentences) {
    const double place = random.uniform();
    plan.push_back({.text = sentence});
    give(plan.back(), place < options.valid ? 1 : place < options.valid + options.test ? kSpeechTest : 0);
  }
  // Of few sentences chance may leave a part without any.
  for (const auto& [part, share] : {std::pair{std::size_t{1}, options.valid}, {kSpeechTest, options.test}})
    for (auto planned = plan.rbegin(); share > 0 && counts[part] == 0 && planned != plan.rend() && counts[0] > 1;
         ++planned)
      if (planned->part == 0) --counts[0], give(*planned, part);
  require(counts[0] > 0, "[speech] there is nothing to train on");
  counts = {};
  for (Planned& planned : plan)
    planned.name = fmt::format("{}-{:05}", kSpeechParts[planned.part], ++counts[planned.part]);
  return plan;
}

void say(Planned& planned, const SpeechCorpusOptions& options) {
  const fs::path wav = options.folder / "sounds" / (planned.name + ".wav");
  if (options.engine != "own") {
    ReadAloud said = read_aloud(options.engine, planned.voice, planned.text, wav);
    const Value sound = read_value(Kind::sound, wav.string());
    planned.seconds = static_cast<double>(sound.numbers.size(0)) / sound.rate;
    planned.phonemes = std::move(said.phonemes);
    // What flite prints goes on a little after its sound.
    for (TimedWord& phoneme : planned.phonemes)
      phoneme.begin = std::min(phoneme.begin, planned.seconds), phoneme.end = std::min(phoneme.end, planned.seconds);
    return;
  }
  const RandomKey key{options.seed};
  std::vector<std::string> words;
  for (const std::string_view word : words_of_line(planned.text)) words.emplace_back(word);
  Speech speech = speak(words, made_up_voice(key.derive("voice " + planned.voice)), key.derive(planned.name));
  AtomicFile file(wav);
  file.write(wav_bytes(speech.samples, kSynthesiserRate));
  file.commit_soon();
  planned.seconds = static_cast<double>(speech.samples.size()) / kSynthesiserRate;
  planned.words = std::move(speech.words), planned.phonemes = std::move(speech.phonemes);
}

struct CorpusFile {
  fs::path path;
  std::string content;
};

// The tables of one part.
std::vector<CorpusFile> tables_of(std::size_t part, const std::vector<Planned>& plan, const fs::path& folder,
                                  bool word_times, bool phoneme_times) {
  const std::string stem = kSpeechParts[part];
  CorpusFile words{folder / (stem + ".tsv"), ""}, phonemes{folder / (stem + ".phonemes.tsv"), ""},
      word_gold{folder / (stem + ".ctm"), ""}, phoneme_gold{folder / (stem + ".phonemes.ctm"), ""},
      voices{folder / (stem + ".utt2spk"), ""};
  for (const Planned& planned : plan) {
    if (planned.part != part) continue;
    words.content += fmt::format("sounds/{}.wav\t{}\n", planned.name, planned.text);
    phonemes.content += fmt::format("sounds/{}.wav\t{}\n", planned.name, joined(planned.phonemes));
    voices.content += fmt::format("{} {}\n", planned.name, planned.voice);
    word_gold.content += ctm_lines(planned.name, planned.words);
    phoneme_gold.content += ctm_lines(planned.name, planned.phonemes);
  }
  std::vector<CorpusFile> files{std::move(words), std::move(phonemes), std::move(voices)};
  if (word_times) files.push_back(std::move(word_gold));
  if (phoneme_times) files.push_back(std::move(phoneme_gold));
  return files;
}

}  // namespace

SpeechCorpusCounts write_speech_corpus(const SpeechCorpusOptions& options) {
  require(options.utterances >= 1, "[speech] {} utterances are no corpus", options.utterances);
  require(options.valid >= 0 && options.test >= 0 && options.valid + options.test < 1,
          "[speech] shares of {} and {} for validation and test leave nothing for training", options.valid,
          options.test);
  const bool own = options.engine == "own", timed = own || options.engine == "flite";
  std::vector<Planned> plan = plan_of(options);
  for (std::size_t part = 0; part < kSpeechParts.size(); ++part)
    for (const CorpusFile& file : tables_of(part, {}, options.folder, own, timed))
      require(options.force || !fs::exists(file.path), "{}: it is there already; --force replaces it",
              file.path.string());
  std::error_code reason;
  fs::create_directories(options.folder / "sounds", reason);
  require(!reason, "{}: cannot make the folder: {}", options.folder.string(), reason.message());

  parallel_for(static_cast<Index>(plan.size()), 1, [&](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      try {
        say(plan[i], options);
      } catch (const std::exception& error) {
        plan[i].fault = error.what();
        return;
      }
      if (options.progress) options.progress();
    }
  });
  SpeechCorpusCounts counts{.timed = timed};
  std::array<Index*, kSpeechParts.size()> of_part{&counts.train, &counts.valid, &counts.test};
  for (const Planned& planned : plan) {
    require(planned.fault.empty(), "{}", planned.fault);
    ++*of_part[planned.part];
    counts.seconds += planned.seconds;
  }
  put_on_disk(options.folder);  // the sounds, before tables name them
  std::deque<AtomicFile> files;
  for (std::size_t part = 0; part < kSpeechParts.size(); ++part)
    for (const CorpusFile& file : tables_of(part, plan, options.folder, own, timed))
      files.emplace_back(file.path).write(file.content);
  for (AtomicFile& file : files) file.commit();
  return counts;
}

}  // namespace heed
