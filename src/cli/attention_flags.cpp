#include "heed/cli/attention_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"
#include "heed/models/decoder_parts.h"

namespace heed::cli {

std::vector<GivenOption> AttentionChoice::options() const {
  std::vector<GivenOption> given;
  AttentionOptions options;
  if (!mechanism.empty()) {
    options = mechanism_named(mechanism).options;
    for (const FieldDescription& field : describe_fields([&](Fields& f) { visit_attention(options, f); }))
      given.push_back({field.name, field.value, "--attention"});
  }
  const auto instead = [&](const char* name, const std::string& part, std::string& own) {
    if (part.empty()) return;
    own = part;
    given.push_back({name, part, fmt::format("--{}", name)});
  };
  instead("score", score, options.score);
  instead("window", window, options.window);
  instead("normaliser", normaliser, options.normaliser);
  check_parts(options);
  return given;
}

std::string AttentionChoice::text() const {
  std::vector<std::string> parts;
  if (!score.empty()) parts.push_back("score " + score);
  if (!window.empty()) parts.push_back("window " + window);
  if (!normaliser.empty()) parts.push_back("normaliser " + normaliser);
  const std::string whole = (mechanism.empty() ? "its own" : mechanism) + " attention";
  return parts.empty() ? whole : fmt::format("{} ({})", whole, fmt::join(parts, ", "));
}

void add_attention_flags(CLI::App& command, AttentionChoice& choice) {
  command.add_option("--attention", choice.mechanism,
                     "Attention mechanism ('heed attentions' lists them) instead of the model's own");
  command.add_option("--score", choice.score, "Score instead of the mechanism's");
  command.add_option("--window", choice.window, "Window instead of the mechanism's");
  command.add_option("--normaliser", choice.normaliser, "Normaliser instead of the mechanism's");
}

}  // namespace heed::cli
