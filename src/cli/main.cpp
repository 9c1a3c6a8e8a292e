#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "heed/base/error.h"
#include "heed/cli/commands.h"

// Exit codes: 0 done; 1 an error in what was asked or given; 2 a misuse of the command line.
int main(int argc, char** argv) {
  CLI::App app{"Heed: attention models on ordinary CPUs"};
  app.set_version_flag("--version", "heed " HEED_VERSION);
  app.require_subcommand(1);
  app.footer("Try first:  heed demo\nMore about a command:  heed COMMAND --help");
  heed::cli::add_demo(app);
  heed::cli::add_attentions(app);
  heed::cli::add_evaluate(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const heed::Error& error) {
    fmt::print(stderr, "heed: {}\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "heed: unexpected: {}\n", error.what());
    return 1;
  }
  return 0;
}
