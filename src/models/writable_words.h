#pragma once

#include <optional>
#include <vector>

#include "heed/models/system.h"

namespace heed {

// What a step of a model predicts: scores of the next word [rows, (1,) vocabulary], and its weights over the source, of
// rows · m numbers; empty without attention.
struct StepScores {
  WordScores words;
  Tensor weights;
};

// The words that a decoding may write: all, or those of a shortlist (Source::writable), whose scores alone are
// computed. With a screen (Source::screen) a step may give the likeliest word alone.
class WritableWords {
 public:
  explicit WritableWords(const Source& source);
  // The words that stand at these places; of all words the places are the words.
  Ids words_at(const Ids& places) const;
  // Row i belongs to sources[i]; a word that is none of its own has no probability.
  Decoding::Step step_of(const StepScores& scores, const std::vector<Index>& sources);

 private:
  Ids words_;                                 // [count]; empty: all
  std::shared_ptr<WordScreen> screen_;        // empty: all scores are wanted
  std::vector<std::vector<Index>> own_;       // of each source, the places of its words
  std::optional<WordScores::Chosen> chosen_;  // of the output's weights, since the first step
};

}  // namespace heed
