#pragma once

#include <string>

#include "heed/attention/options.h"

namespace CLI {
class App;
}

namespace heed::cli {

// A published mechanism by name, and parts that take the place of its own.
struct AttentionChoice {
  std::string mechanism = "bahdanau";
  std::string score, window, normaliser;  // empty: the mechanism's

  // An Error with the nearest name if one is unknown, or with the reason if the parts contradict each other.
  AttentionOptions options() const;
  // E.g. "bahdanau" or "bahdanau (score dot, window causal)".
  std::string text() const;
};

// Adds --attention, --score, --window and --normaliser. The choice must outlive the command.
void add_attention_flags(CLI::App& command, AttentionChoice& choice);

}  // namespace heed::cli
