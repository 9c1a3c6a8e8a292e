#include "heed/align/shortlist.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <numeric>

#include "heed/base/error.h"
#include "heed/cli/align_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/output.h"
#include "heed/data/text_file.h"
#include "heed/jobs/job.h"
#include "heed/store/model_folder.h"

namespace heed::cli {
namespace {

struct ShortlistCommand {
  AlignFlags flags;
  std::string model, alignments, output;
  Shortlist::Limits limits;
  bool binary = false;
};

// Texts are cut as the model cuts them.
void take_vocabularies(const std::string& model, BitextReading& reading) {
  const ModelFolder folder(model);
  const Job& job = job_named(folder.job());
  require(is_text(job.inputs.front().kind) && job.output.kind == Kind::text,
          "{}: a model for {} has no source words and target words", model, job.name);
  reading.source.vocabulary = load_vocabulary(folder.vocabulary(job.inputs.front().name));
  reading.target.vocabulary = load_vocabulary(folder.vocabulary(job.output.name));
}

// Which word each number of a sentence belongs to.
std::vector<Index> words_of(const TextNumbers& side, NumberedSentences::Sentence sentence) {
  if (side.vocabulary) return side.vocabulary->word_of(sentence);
  std::vector<Index> words(sentence.size());
  std::iota(words.begin(), words.end(), 0);
  return words;
}

// The links of a file, which are of words.
LinkCounts count_given(const std::string& file, const Bitext& text, const BitextReading& reading) {
  LinkCounts counts;
  LineReader lines(file);
  std::string line;
  for (std::size_t n = 0; n < text.size(); ++n) {
    require(lines.next(line), "{}: it has {} lines, but there are {} pairs of sentences", file, n, text.size());
    const std::optional<WordLinks> links = read_word_links(line);
    require(links.has_value(), "{}: line {} is not of links like 0-0 1-2", file, n + 1);
    if (text.source[n].empty()) continue;  // a pair that cannot be used
    const std::vector<Index> source = words_of(reading.source, text.source[n]);
    const std::vector<Index> target = words_of(reading.target, text.target[n]);
    for (const auto& [s, t] : *links)
      require(s <= source.back() && t <= target.back(),
              "{}: line {}: the link {}-{} is outside its sentences of {} and {} words", file, n + 1, s, t,
              source.back() + 1, target.back() + 1);
    counts.add(links_of_pieces(*links, source, target), text.source[n], text.target[n]);
  }
  require(!lines.next(line), "{}: it has more lines than the {} pairs of sentences", file, text.size());
  return counts;
}

LinkCounts count_found(const AlignFlags& flags, const Bitext& text) {
  const Join join = join_named(flags.join);
  const BothAlignments both = flags.align(text, text);
  LinkCounts counts;
  for (std::size_t n = 0; n < text.size(); ++n) counts.add(both.links(text, n, join), text.source[n], text.target[n]);
  return counts;
}

// How many words a sentence is left with, and which share of its translation is among them.
std::string coverage(const Shortlist& shortlist, const Bitext& text) {
  Index pairs = 0, allowed = 0, found = 0, words = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text.source[n].empty()) continue;
    const std::vector<std::int32_t> list = shortlist.allowed(text.source[n]);
    ++pairs;
    allowed += std::ssize(list);
    words += std::ssize(text.target[n]);
    for (const std::int32_t word : text.target[n]) found += std::ranges::binary_search(list, word) ? 1 : 0;
  }
  return fmt::format("{:.1f} target words are allowed per sentence, with {:.3f} % of the words of these translations\n",
                     static_cast<double>(allowed) / static_cast<double>(pairs),
                     100 * static_cast<double>(found) / static_cast<double>(words));
}

void run(const ShortlistCommand& command) {
  require(!command.binary || !command.model.empty(),
          "--binary: it has numbers of words, so --model has to say whose they are");
  OutputFile output(command.output);
  BitextReading reading;
  if (!command.model.empty()) take_vocabularies(command.model, reading);
  const Bitext text = command.flags.read(reading);
  const LinkCounts counts =
      command.alignments.empty() ? count_found(command.flags, text) : count_given(command.alignments, text, reading);
  const std::vector<LinkCounts::Entry> entries = counts.entries(command.limits.best, command.limits.threshold);
  require(!entries.empty(), "{}: no words of it are linked", command.flags.files.front());
  std::string report = fmt::format("{} pairs of words of {} pairs of sentences\n", entries.size(), text.size());
  std::string bytes;
  if (!command.model.empty()) {
    const Shortlist shortlist(entries, *reading.source.vocabulary, *reading.target.vocabulary, command.limits);
    report += coverage(shortlist, text);
    if (command.binary) bytes = shortlist.binary();
  }
  if (!command.binary)
    bytes = shortlist_text(
        entries, [&](std::int32_t number) { return reading.source.text(number); },
        [&](std::int32_t number) { return reading.target.text(number); });
  output.write(bytes);
  output.finish();
  fmt::print(is_standard_output(command.output) ? stderr : stdout, "{}", report);
}

}  // namespace

void add_shortlist(CLI::App& app) {
  CLI::App* command = app.add_subcommand("shortlist", "Find the target words that each source word may need");
  const auto options = std::make_shared<ShortlistCommand>();
  // A link too many costs a little time, one too few a word that cannot be written.
  options->flags.join = "union";
  options->flags.aligner.agree = false;
  options->flags.add(*command);
  command->add_option("--output,-o", options->output, "File of the shortlist ('-': the standard output)")->required();
  command->add_option("--model,-m", options->model,
                      "Model folder, whose vocabularies cut the texts: the shortlist is of their pieces");
  command->add_option("--alignments", options->alignments,
                      "Links of words of the pairs (Pharaoh: i-j ...), instead of those that heed align finds");
  command->add_option("--best", options->limits.best, "Target words of a source word, at most")->capture_default_str();
  command
      ->add_option("--threshold", options->limits.threshold,
                   "Leave out target words whose probability, given the source word, is not above it")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--first", options->limits.first, "The most frequent target words, which are always allowed")
      ->capture_default_str();
  command->add_flag("--binary", options->binary, "Write Marian's binary form, which is loaded faster; with --model");
  command->footer(
      "Lines are a target word, a source word and the probability of the one given the other, as Marian reads\n"
      "them. --first is kept in the binary form only, and otherwise said again where the shortlist is used.\n\n"
      "Examples:\n"
      "  heed shortlist train.en train.de --model my-model --output my-model.shortlist\n"
      "  heed shortlist train.tsv --model my-model --alignments train.align --binary --output lex.bin\n"
      "  heed shortlist train.bpe.en train.bpe.de --best 50 --threshold 0.001 --output lex.s2t");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
