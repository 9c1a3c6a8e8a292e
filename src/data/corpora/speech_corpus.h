#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/real.h"

namespace heed {

struct SpeechCorpusOptions {
  std::filesystem::path folder = {};  // made if it is not there
  std::string engine = "own";         // the synthesiser of this program, or one of speech_programs()
  Index utterances = 2000;            // in all parts together
  double valid = 0.05, test = 0.1;    // shares of them
  std::uint64_t seed = 1;
  bool force = false;  // files that are there may be replaced
  // Of our own synthesiser: how many voices, of which one in five speaks in the test alone; words per utterance.
  Index voices = 20, shortest = 1, longest = 5;
  // Of a program: who speaks for training and validation, and who in the test (empty: the usual ones), and a file of
  // sentences, one per line (empty: those of `heed corpus grammar`).
  std::vector<std::string> training_voices = {}, test_voices = {};
  std::string text = {};
  std::function<void()> progress = {};  // called after each utterance, perhaps by another thread
};

struct SpeechCorpusCounts {
  Index train = 0, valid = 0, test = 0;
  double seconds = 0;
  bool timed = true;  // there are gold times
};

// train.tsv, valid.tsv and test.tsv of lines "sounds/train-00001.wav<TAB>words"; the same with phonemes in the place of
// the words: train.phonemes.tsv, …; and when each was said: train.ctm (words; of our own synthesiser) and
// train.phonemes.ctm, in which utterances have the names of their files without folder and ending, as they do in
// train.utt2spk, which says by Kaldi's form "train-00001 slt" whose voice each is in. No voice of the test
// is heard in training, and of a program's no sentence either. The tables appear when all sounds are written.
SpeechCorpusCounts write_speech_corpus(const SpeechCorpusOptions& options);

}  // namespace heed
