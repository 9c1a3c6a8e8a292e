#include "heed/cli/output_flags.h"

#include "heed/base/error.h"

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

void add_setting_flags(CLI::App& command, RunSettings& settings) {
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&settings](const std::vector<std::string>& given) {
            for (const std::string& each : given) {
              const std::size_t equals = each.find('=');
              require(equals != std::string::npos && equals > 0, "--set: {} is not of the form NAME=VALUE", each);
              settings.emplace_back(each.substr(0, equals), each.substr(equals + 1));
            }
          },
          "A setting in place of the model's own, such as window=median of a listener; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_rerank_flag(CLI::App& command, RunOptions& options) {
  command.add_flag_callback(
      "--no-rerank", [&options] { options.rerank = false; },
      "Leave a reader's answers in its own order, though heed tune has made it another");
}

}  // namespace heed::cli
