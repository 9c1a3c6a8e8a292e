#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/cli/commands.h"

namespace heed::cli {
namespace {

struct Word {
  std::string name, help;
};

// What may follow one command.
struct Level {
  std::string path;  // "heed corpus"
  std::vector<Word> commands, options;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void add_levels(const CLI::App& app, const std::string& path, std::vector<Level>& levels) {
  Level level{path, {}, {}};
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  for (const CLI::App* command : commands)
    level.commands.push_back({command->get_name(), first_line(command->get_description())});
  for (const CLI::Option* option : app.get_options()) {
    const std::string help = first_line(option->get_description());
    for (const std::string& name : option->get_lnames()) level.options.push_back({"--" + name, help});
    for (const std::string& name : option->get_snames()) level.options.push_back({"-" + name, help});
  }
  levels.push_back(std::move(level));
  for (const CLI::App* command : commands) add_levels(*command, path + " " + command->get_name(), levels);
}

std::string replaced(const std::string& text, char what, const std::string& by) {
  std::string result;
  for (const char c : text) result += c == what ? by : std::string(1, c);
  return result;
}

// In single quotes, for bash and zsh; for fish, where a backslash escapes within them.
std::string quoted(const std::string& text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }
std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

// The paths of all commands, as patterns of a shell's case.
std::string command_patterns(const std::vector<Level>& levels) {
  std::vector<std::string> paths;
  for (const Level& level : levels)
    if (level.path != "heed") paths.push_back(quoted(level.path));
  return fmt::format("{}", fmt::join(paths, " | "));
}

std::string bash_script(const std::vector<Level>& levels) {
  std::string text =
      "# Completion of heed for bash:  source <(heed completion bash)\n"
      "_heed() {\n"
      "  local command=heed word words=\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$command $word\" in\n"
      "      " +
      command_patterns(levels) +
      ") command=\"$command $word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n";
  for (const Level& level : levels) {
    std::vector<std::string> words;
    for (const Word& word : level.commands) words.push_back(word.name);
    for (const Word& word : level.options) words.push_back(word.name);
    text += fmt::format("    {}) words={} ;;\n", quoted(level.path), quoted(fmt::format("{}", fmt::join(words, " "))));
  }
  text +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
      "}\n"
      "complete -o default -F _heed heed\n";
  return text;
}

std::string zsh_script(const std::vector<Level>& levels) {
  std::string text =
      "#compdef heed\n"
      "# Completion of heed for zsh:  heed completion zsh > a folder of $fpath/_heed\n"
      "_heed() {\n"
      "  local command=heed word\n"
      "  local -a commands options\n"
      "  for word in ${words[2,CURRENT-1]}; do\n"
      "    case \"$command $word\" in\n"
      "      (" +
      command_patterns(levels) +
      ") command=\"$command $word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n";
  const auto described = [](const std::vector<Word>& words) {
    std::vector<std::string> items;
    items.reserve(words.size());
    for (const Word& word : words) items.push_back(quoted(word.name + ":" + replaced(word.help, ':', "\\:")));
    return fmt::format("{}", fmt::join(items, " "));
  };
  for (const Level& level : levels)
    text += fmt::format("    ({}) commands=({}) options=({}) ;;\n", quoted(level.path), described(level.commands),
                        described(level.options));
  text +=
      "  esac\n"
      "  if [[ ${words[CURRENT]} == -* ]]; then\n"
      "    _describe -o option options\n"
      "  elif (( ${#commands} )); then\n"
      "    _describe command commands\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}\n"
      "if [[ ${funcstack[1]} == _heed ]]; then _heed; else compdef _heed heed; fi\n";
  return text;
}

std::string fish_script(const std::vector<Level>& levels) {
  std::string text = "# Completion of heed for fish:  heed completion fish | source\n";
  for (const Level& level : levels) {
    const std::size_t space = level.path.rfind(' ');
    const std::string command = space == std::string::npos ? "" : level.path.substr(space + 1);
    // Commands are offered until one of them is there, options after their command.
    const std::string here = command.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + command;
    std::vector<std::string> names;
    for (const Word& word : level.commands) names.push_back(word.name);
    for (const Word& word : level.commands)
      text += fmt::format(
          "complete -c heed -f -n {} -a {} -d {}\n",
          fish_quoted(fmt::format("{}; and not __fish_seen_subcommand_from {}", here, fmt::join(names, " "))),
          word.name, fish_quoted(word.help));
    for (const Word& word : level.options)
      text += fmt::format("complete -c heed -n {} {} {} -d {}\n", fish_quoted(here), word.name[1] == '-' ? "-l" : "-s",
                          word.name.substr(word.name[1] == '-' ? 2 : 1), fish_quoted(word.help));
  }
  return text;
}

void print_script(const CLI::App& app, const std::string& shell) {
  std::vector<Level> levels;
  add_levels(app, "heed", levels);
  const std::vector<std::string> known{"bash", "zsh", "fish"};
  if (shell == "bash") {
    fmt::print("{}", bash_script(levels));
  } else if (shell == "zsh") {
    fmt::print("{}", zsh_script(levels));
  } else if (shell == "fish") {
    fmt::print("{}", fish_script(levels));
  } else {
    fail("[completion] there is none for {}{}", shell, did_you_mean(shell, known));
  }
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a script that lets a shell complete heed's commands");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->footer(
      "Examples:\n"
      "  source <(heed completion bash)\n"
      "  heed completion fish > ~/.config/fish/completions/heed.fish");
  command->callback([&app, shell] { print_script(app, *shell); });
}

}  // namespace heed::cli
