#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/jobs/batched_search.h"
#include "heed/jobs/translation_folder.h"
#include "heed/trace/word_alignment.h"

namespace heed {

struct TranslatorOptions {
  BatchedSearch search = {};     // without prefixes and sentence numbers
  Index longest_sentence = 500;  // pieces; a longer source is cut, with a warning
  int threads = 0;               // 0: as many as ops may use
};

struct Translation {
  std::string text;
  double log_probability = 0, score = 0;
  bool finished = true;                    // false: cut off because it became too long
  std::optional<WordAlignment> alignment;  // of a model with attention
};

struct TranslationScore {
  double log_probability = 0;
  Index words = 0;  // pieces, with the end
};

// A trained model, or several that decide together, as a translator of lines.
class Translator {
 public:
  using Warn = std::function<void(const std::string&)>;

  // An ensemble's models must have the same vocabularies.
  Translator(const std::vector<std::filesystem::path>& folders, TranslatorOptions options, Warn warn);
  // Of a model that is loaded already, and may be used by others too: translating changes nothing in it.
  Translator(std::shared_ptr<const TranslationBundle> bundle, TranslatorOptions options, Warn warn);

  // For every line its translations, best first: as many as the search is asked for, or one that is empty where the
  // line is. A line that is cut, or is no UTF-8 and counts as empty, is warned of with its number, which counts on from
  // call to call. Prefixes, if there are any, are what the translations begin with, one a line.
  std::vector<std::vector<Translation>> translate(std::span<const std::string> lines,
                                                  std::span<const std::string> prefixes = {});
  // log p(target | source) line by line.
  std::vector<TranslationScore> score(std::span<const std::string> sources, std::span<const std::string> targets);
  // Where the (first) model looks while it reads the given translations, line by line; nothing without attention.
  std::vector<std::optional<WordAlignment>> align(std::span<const std::string> sources,
                                                  std::span<const std::string> targets);

  const TranslationBundle& bundle(std::size_t model = 0) const { return *bundles_[model]; }
  // How the next lines are searched.
  void search_with(BatchedSearch search) { options_.search = std::move(search); }

 private:
  std::vector<std::int32_t> encoded(const Vocabulary& vocabulary, const std::string& line, Index number) const;
  // Both sides of given translations as ids, and the batches they are read in.
  struct Given {
    std::vector<std::vector<std::int32_t>> sources, targets;
    std::vector<std::vector<std::size_t>> batches;
  };
  Given given(std::span<const std::string> sources, std::span<const std::string> targets);
  Translation made_of(const Hypothesis& hypothesis, std::span<const std::int32_t> source) const;

  using Bundles = std::vector<std::shared_ptr<const TranslationBundle>>;
  Translator(Bundles bundles, TranslatorOptions options, Warn warn);
  static Bundles load_all(const std::vector<std::filesystem::path>& folders);

  TranslatorOptions options_;
  Warn warn_;
  Bundles bundles_;
  std::vector<const Writer*> models_;
  ThreadPool threads_;
  Index lines_ = 0;  // seen so far
};

}  // namespace heed
