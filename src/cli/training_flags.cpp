#include "heed/cli/training_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace heed::cli {
namespace {

// "--epochs,--after-epochs": the name and others for it.
std::string flags_of(const std::string& name) {
  std::string flags = "--" + name;
  for (const auto& [other, ours] : other_names())
    if (ours == name) flags += ",--" + other;
  return flags;
}

}  // namespace

void add_training_flags(CLI::App& command, const std::vector<std::string>& without,
                        const std::function<void(GivenOption)>& give) {
  for (const FieldDescription& field : describe_training()) {
    if (std::find(without.begin(), without.end(), field.name) != without.end()) continue;
    const auto give_text = [give, name = field.name](const std::string& text) { give({name, text, "--" + name}); };
    if (field.kind == FieldDescription::Kind::truth) {
      command.add_flag_function(
          flags_of(field.name), [give_text](std::int64_t count) { give_text(count > 0 ? "true" : "false"); },
          field.help);
    } else {
      command.add_option_function<std::string>(flags_of(field.name), give_text, field.help)
          ->type_name(field.kind == FieldDescription::Kind::text ? "TEXT" : "NUMBER")
          ->default_str(field.value);
    }
  }
  for (const char* name : {"train-sets", "valid-sets", "vocabs", "dim-vocabs"}) {
    command
        .add_option_function<std::vector<std::string>>(
            std::string("--") + name,
            [give, name](const std::vector<std::string>& both) {
              give({name, fmt::format("{}", fmt::join(both, " ")), std::string("--") + name});
            },
            "Marian's option for all sides at once: one value for what is read, one for what is given")
        ->expected(2);
  }
}

void say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

}  // namespace heed::cli
