#pragma once

#include <string>
#include <vector>

#include "heed/jobs/training_options.h"

namespace CLI {
class App;
}

namespace heed::cli {

// A published mechanism by name, and parts that take the place of its own; what is empty stays the model's own.
struct AttentionChoice {
  std::string mechanism, score, window, normaliser;

  // As options of a training. An Error with the nearest name if one is unknown, or with the reason if the parts
  // contradict each other.
  std::vector<GivenOption> options() const;
  // E.g. "bahdanau attention" or "its own attention (score dot, window causal)".
  std::string text() const;
};

// Adds --attention, --score, --window and --normaliser. The choice must outlive the command.
void add_attention_flags(CLI::App& command, AttentionChoice& choice);

}  // namespace heed::cli
