#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/cli/commands.h"
#include "heed/jobs/training_options.h"
#include "heed/train/launch.h"

namespace {

// The first word that the command line could not place, with the nearest one that it knows.
std::string about_unknown(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.front();
  for (const CLI::App* each : {&command, &app}) {
    for (const std::string& word : each->remaining()) {
      std::vector<std::string> known;
      const bool option = word.starts_with("-");
      if (option) {
        for (const CLI::Option* o : command.get_options())
          for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
      } else if (commands.empty()) {
        for (const CLI::App* c : app.get_subcommands({})) known.push_back(c->get_name());
      } else {
        return fmt::format("heed {}: {} is one word too many", command.get_name(), word);
      }
      return fmt::format("heed{}{}: there is no {} {}{}", commands.empty() ? "" : " ",
                         commands.empty() ? "" : command.get_name(), option ? "option" : "command", word,
                         heed::did_you_mean(word.substr(0, word.find('=')), known));
    }
  }
  return "";
}

int misused(const CLI::App& app, const CLI::ParseError& error) {
  const bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                       dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::string about = unknown ? about_unknown(app) : "";
  if (about.empty()) return app.exit(error) == 0 ? 0 : 2;
  fmt::print(stderr, "{}\n", about);
  return 2;
}

}  // namespace

// Exit codes: 0 done; 1 an error in what was asked or given; 2 a misuse of the command line; 128 + n stopped by signal
// n after everything was saved.
int main(int argc, char** argv) {
  CLI::App app{"Heed: attention models on ordinary CPUs", "heed"};
  app.set_version_flag("--version", "heed " HEED_VERSION);
  app.require_subcommand(1);
  app.footer("Try first:  heed demo\nMore about a command:  heed COMMAND --help");
  heed::cli::add_demo(app);
  heed::cli::add_attentions(app);
  heed::cli::add_evaluate(app);
  heed::cli::add_corpus(app);
  heed::cli::add_align(app);
  heed::cli::add_shortlist(app);
  heed::cli::add_train(app);
  heed::cli::add_run(app);
  heed::cli::add_explain(app);
  heed::cli::add_view(app);
  heed::cli::add_score(app);
  heed::cli::add_tune(app);
  heed::cli::add_quantise(app);
  heed::cli::add_serve(app);
  heed::cli::add_info(app);
  heed::cli::add_models(app);
  heed::cli::add_compare(app);
  heed::cli::add_completion(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.got_subcommand("train") && error.get_exit_code() != 0 && !heed::is_first_process()) return 2;
    return misused(app, error);
  } catch (const heed::cli::Exit& exit) {
    return exit.code;
  } catch (const heed::OptionError& error) {
    fmt::print(stderr, "heed: {}\n", error.what());
    return 2;
  } catch (const heed::Error& error) {
    fmt::print(stderr, "heed: {}\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "heed: unexpected: {}\n", error.what());
    return 1;
  }
  return 0;
}
