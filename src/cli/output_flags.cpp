#include "heed/cli/output_flags.h"

namespace heed::cli {

void add_length_flags(CLI::App& command, RunOptions& options) {
  SearchOptions& search = options.search.options;
  const auto number = [&command](const char* name, Index& to, const char* help) {
    command.add_option(name, to, help)->check(CLI::NonNegativeNumber)->capture_default_str();
  };
  command.add_option("--coverage-penalty", search.coverage_penalty, "Weight of the coverage penalty (0: none)")
      ->capture_default_str();
  command.add_flag("--no-unknown", search.forbid_unknown, "Never write the unknown word");
  number("--no-repeat-ngram", search.no_repeat, "No run of so many pieces is written twice (0: all may be)");
  number("--least-words", options.outputs.least_words, "Fewest words of an output");
  number("--most-words", options.outputs.most_words, "Most words of an output (0: any number)");
  number("--most-bytes", options.outputs.most_bytes, "Most bytes of an output (0: any number)");
}

void add_rerank_flag(CLI::App& command, RunOptions& options) {
  command.add_flag_callback(
      "--no-rerank", [&options] { options.rerank = false; },
      "Leave a reader's answers in its own order, though heed tune has made it another");
}

}  // namespace heed::cli
