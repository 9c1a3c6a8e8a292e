#include "heed/cli/attention_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"

namespace heed::cli {

AttentionOptions AttentionChoice::options() const {
  AttentionOptions options = mechanism_named(mechanism).options;
  if (!score.empty()) options.score = score;
  if (!window.empty()) options.window = window;
  if (!normaliser.empty()) options.normaliser = normaliser;
  check_parts(options);
  return options;
}

std::string AttentionChoice::text() const {
  std::vector<std::string> parts;
  if (!score.empty()) parts.push_back("score " + score);
  if (!window.empty()) parts.push_back("window " + window);
  if (!normaliser.empty()) parts.push_back("normaliser " + normaliser);
  return parts.empty() ? mechanism : fmt::format("{} ({})", mechanism, fmt::join(parts, ", "));
}

void add_attention_flags(CLI::App& command, AttentionChoice& choice) {
  command.add_option("--attention", choice.mechanism, "Attention mechanism ('heed attentions' lists them)")
      ->capture_default_str();
  command.add_option("--score", choice.score, "Score to use instead of the mechanism's own");
  command.add_option("--window", choice.window, "Window to use instead of the mechanism's own");
  command.add_option("--normaliser", choice.normaliser, "Normaliser to use instead of the mechanism's own");
}

}  // namespace heed::cli
