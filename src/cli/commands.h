#pragma once

namespace CLI {
class App;
}

// Each adds one subcommand; what it does happens while the command line is parsed.
namespace heed::cli {

void add_demo(CLI::App& app);
void add_compare(CLI::App& app);
void add_attentions(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_corpus(CLI::App& app);
void add_align(CLI::App& app);
void add_shortlist(CLI::App& app);
void add_train(CLI::App& app);
void add_run(CLI::App& app);
void add_explain(CLI::App& app);
void add_view(CLI::App& app);
void add_score(CLI::App& app);
void add_tune(CLI::App& app);
void add_quantise(CLI::App& app);
void add_serve(CLI::App& app);
void add_info(CLI::App& app);
void add_models(CLI::App& app);
void add_completion(CLI::App& app);

// Thrown by a command that has said all there is to say: the program ends with this code.
struct Exit {
  int code;
};

}  // namespace heed::cli
