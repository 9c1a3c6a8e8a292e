#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "heed/base/error.h"
#include "heed/cli/align_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/output.h"
#include "heed/data/text_file.h"
#include "heed/metrics/aer.h"

namespace heed::cli {
namespace {

struct AlignCommand {
  AlignFlags flags;
  std::vector<std::string> learn;
  std::string output = "-", gold;
  Index gold_first = 0;
};

std::vector<AlignmentLinks> read_gold(const AlignCommand& command, std::size_t pairs) {
  std::vector<AlignmentLinks> gold;
  LineReader lines(command.gold);
  for (std::string line; lines.next(line);) {
    try {
      gold.push_back(parse_alignment(line, command.gold_first));
    } catch (const Error& error) {
      fail("{}, line {}: {}", lines.name(), lines.number(), error.what());
    }
  }
  require(gold.size() == pairs, "{}: it has {} lines, but there are {} pairs of sentences", command.gold, gold.size(),
          pairs);
  return gold;
}

void run(const AlignCommand& command) {
  const Join join = join_named(command.flags.join);
  OutputFile output(command.output);
  BitextReading reading;
  const Bitext text = command.flags.read(reading);
  std::vector<AlignmentLinks> gold;
  if (!command.gold.empty()) gold = read_gold(command, text.size());
  std::optional<Bitext> other;
  if (!command.learn.empty())
    other = command.flags.read(SampleFiles{.files = command.learn, .allow_bad_lines = command.flags.allow_bad_lines},
                               reading);
  const BothAlignments both = command.flags.align(other ? *other : text, text);
  AlignmentCounts counts;
  std::size_t found = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const WordLinks links = both.links(text, n, join);
    output.write(word_links_text(links) + '\n');
    found += links.size();
    if (!gold.empty()) counts += compare_alignment({.sure = {}, .possible = {links.begin(), links.end()}}, gold[n]);
  }
  output.finish();
  std::FILE* const report = is_standard_output(command.output) ? stderr : stdout;
  fmt::print(report, "{} pairs of sentences, {} and {} words, {} links\n", text.size(), text.source.words().size(),
             text.target.words().size(), found);
  if (!gold.empty())
    fmt::print(report, "AER {:.4f}, precision {:.4f}, recall {:.4f}\n", counts.error_rate(), counts.precision(),
               counts.recall());
}

}  // namespace

void add_align(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("align", "Find which words of sentences and their translations belong together");
  const auto options = std::make_shared<AlignCommand>();
  options->flags.add(*command);
  command->add_option("--output,-o", options->output, "File of links, one line per pair ('-': the standard output)")
      ->capture_default_str();
  command
      ->add_option("--learn", options->learn,
                   "Learn from these pairs instead: train.en,train.fr or tables such as train.tsv; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--gold", options->gold,
                      "File of gold alignments of the pairs; 1?2 or 1p2 is a possible link. Prints the alignment error "
                      "rate, precision and recall");
  add_gold_first(*command, options->gold_first);
  command->footer(
      "Words are what stands between white space, so cut the texts first as your other tools do. Lines of the\n"
      "output are links like 0-0 1-2, source word and target word, counted from 0; that of a pair which cannot be\n"
      "used is empty. The result does not depend on the number of threads.\n\n"
      "Examples:\n"
      "  heed align train.en train.fr --output train.align\n"
      "  heed align train.tsv.xz --join intersection --output train.align\n"
      "  heed align test.en test.fr --learn train.en,train.fr --learn test.en,test.fr --gold test.gold -o test.align\n"
      "  heed train --source train.en --target train.fr --alignments train.align ...");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
