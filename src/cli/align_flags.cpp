#include "heed/cli/align_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "heed/base/error.h"
#include "heed/base/progress.h"
#include "heed/base/threads.h"

namespace heed::cli {

void AlignFlags::add(CLI::App& command) {
  command
      .add_option("files", files,
                  "Source sentences, one per line, and their translations; or one table with both (TSV, CSV, JSON "
                  "lines). Any of them may be packed")
      ->required()
      ->expected(1, 2)
      ->type_name("SOURCE TARGET");
  command.add_option("--join", join, fmt::format("How two directions become one: {}", fmt::join(join_names(), ", ")))
      ->capture_default_str();
  command
      .add_option("--model2-iterations", aligner.diagonal_rounds,
                  "Rounds of learning with IBM model 2 and a diagonal prior")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command.add_option("--hmm-iterations", aligner.jump_rounds, "Rounds of learning with the hidden Markov model")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command.add_flag("--agree,!--separate", aligner.agree,
                   fmt::format("Each direction learns only what the other agrees with, or by itself (default: {})",
                               aligner.agree ? "--agree" : "--separate"));
  command.add_option("--longest", longest, "Words of a sentence, at most; pairs with more are left out")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--lowercase", lowercase, "Take no notice of capital letters");
  command.add_flag("--allow-bad-lines", allow_bad_lines,
                   "Go on with files of unequal length, or of which more than 5 % of the pairs cannot be used");
  command.add_option("--threads,--cpu-threads", threads, "Threads (0: all)")->capture_default_str();
}

Bitext AlignFlags::read(const SampleFiles& samples, BitextReading& reading) const {
  reading.longest = static_cast<std::size_t>(longest);
  reading.source.lowercase = reading.target.lowercase = lowercase;
  Bitext text;
  const SampleReport report = read_bitext(samples, reading, text);
  require(report.kept > 0, "{}: there is no pair of sentences in it", samples.files.front());
  if (report.left_out() > 0) fmt::print(stderr, "{}\n", report.text());
  return text;
}

BothAlignments AlignFlags::align(const Bitext& learnt, const Bitext& aligned) const {
  limit_threads(threads);
  const Index rounds = aligner.diagonal_rounds + aligner.jump_rounds;
  Progress progress(
      {"Aligning", rounds * static_cast<Index>(learnt.size()) + static_cast<Index>(aligned.size()), "pairs"});
  const AlignerProgress advance = [&progress](Index pairs) { progress.advance(pairs); };
  return Aligner(learnt, aligner, static_cast<std::size_t>(longest), advance).align(aligned, advance);
}

void add_gold_first(CLI::App& command, Index& first) {
  command.add_option("--gold-first", first, "Number of the first word in --gold: 0 or 1")
      ->check(CLI::IsMember({0, 1}))
      ->capture_default_str();
}

}  // namespace heed::cli
