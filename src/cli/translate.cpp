#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>

#include "heed/base/progress.h"
#include "heed/base/spelling.h"
#include "heed/base/threads.h"
#include "heed/cli/commands.h"
#include "heed/data/text_file.h"
#include "heed/explain/terminal.h"
#include "heed/jobs/translator.h"

namespace heed::cli {
namespace {

struct TranslateOptions {
  std::vector<std::string> models;
  std::string input = "-", output = "-", search = "beam", alignment;
  Index best = 1, chunk = 0;
  bool n_best = false, scores = false, draw = false, prefix = false;
  TranslatorOptions translator;
};

// A file that is written as lines come, or the standard output.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path), file_(path == "-" ? stdout : std::fopen(path.c_str(), "w")) {
    require(file_ != nullptr, "{}: cannot write it", path);
  }
  ~Output() {
    if (file_ != stdout) std::fclose(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  void write(const std::string& text) {
    require(std::fwrite(text.data(), 1, text.size(), file_) == text.size(), "{}: cannot write it", path_);
  }
  void flush() { require(std::fflush(file_) == 0, "{}: cannot write it", path_); }

 private:
  std::string path_;
  std::FILE* file_;
};

std::string written(const TranslateOptions& options, Index line, const Translation& translation) {
  std::string text = options.n_best ? fmt::format("{} ||| {}", line, translation.text) : translation.text;
  if (options.n_best || options.scores)
    text += fmt::format(" ||| {:.6g} ||| {:.6g}", translation.log_probability, translation.score);
  if (!options.alignment.empty()) {
    text += " ||| ";
    if (translation.alignment)
      text +=
          options.alignment == "hard" ? hard_alignment(*translation.alignment) : soft_alignment(*translation.alignment);
  }
  text += "\n";
  if (options.draw && translation.alignment)
    text += draw_matrix(translation.alignment->target, translation.alignment->source, translation.alignment->weights,
                        terminal_colour()) +
            "\n";
  return text;
}

// Source and prefix of a line with a tab between.
void split_prefix(std::string& line, std::string& prefix, Index number) {
  const std::size_t tab = line.find('\t');
  require(tab != std::string::npos, "line {}: --prefix needs the source and the prefix with a tab between", number);
  prefix = line.substr(tab + 1);
  line.resize(tab);
}

void run(TranslateOptions options) {
  options.translator.search.method = search_method_named(options.search);
  SearchOptions& search = options.translator.search.options;
  require(options.alignment.empty() || options.alignment == "hard" || options.alignment == "soft",
          "--alignment: {} is neither hard nor soft", options.alignment);
  require(search.beam >= 1, "--beam: it must be at least 1, not {}", search.beam);
  require(options.best >= 1, "--n-best: it must be at least 1, not {}", options.best);
  require(options.search != "greedy" || options.best == 1, "--n-best: greedy search finds one translation only");
  require(options.search != "beam" || options.best <= search.beam, "--n-best: {} is more than the beam of {}",
          options.best, search.beam);
  search.best = options.best;
  limit_threads(options.translator.threads);
  LineReader input(options.input);
  const std::vector<std::filesystem::path> folders(options.models.begin(), options.models.end());
  const bool alone = ::isatty(STDERR_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0;
  std::optional<Progress> progress;
  Translator translator(folders, options.translator, [&](const std::string& line) {
    progress ? progress->note("warning: " + line) : fmt::print(stderr, "warning: {}\n", line);
  });
  Output output(options.output);
  const bool typed = options.input == "-" && ::isatty(STDIN_FILENO) == 1;
  if (!typed && alone) progress.emplace(ProgressTask{.title = "translating", .unit = "lines"});
  const Index chunk = options.chunk > 0 ? options.chunk : typed ? 1 : 1000;

  std::vector<std::string> lines, prefixes;
  for (bool more = true; more;) {
    lines.clear();
    prefixes.clear();
    const Index first = input.number();
    std::string line, prefix;
    while (static_cast<Index>(lines.size()) < chunk && (more = input.next(line))) {
      if (options.prefix) {
        split_prefix(line, prefix, input.number());
        prefixes.push_back(prefix);
      }
      lines.push_back(line);
    }
    const auto results = translator.translate(lines, prefixes);
    for (std::size_t i = 0; i < results.size(); ++i)
      for (const Translation& translation : results[i])
        output.write(written(options, first + static_cast<Index>(i), translation));
    output.flush();
    if (progress) progress->update(input.number());
  }
}

}  // namespace

void add_translate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("translate", "Translate lines with a trained model, or several together");
  const auto options = std::make_shared<TranslateOptions>();
  TranslatorOptions& translator = options->translator;
  SearchOptions& search = translator.search.options;
  command->add_option("--model,-m", options->models, "Model folder; several make an ensemble")->required();
  command->add_option("--input,-i", options->input, "File of sentences, one a line ('-': standard input)")
      ->capture_default_str();
  command->add_option("--output,-o", options->output, "Where the translations go ('-': standard output)")
      ->capture_default_str();
  command->add_option("--search", options->search, "beam, greedy or sample")->capture_default_str();
  command->add_option("--beam,-b,--beam-size", search.beam, "Hypotheses in the beam")->capture_default_str();
  command->add_option("--length-penalty,--normalize", search.length_penalty, "Exponent of the length penalty (0: none)")
      ->capture_default_str();
  command->add_option("--coverage-penalty", search.coverage_penalty, "Weight of the coverage penalty (0: none)")
      ->capture_default_str();
  command
      ->add_option_function<Index>(
          "--n-best",
          [options](const Index& best) {
            options->best = best;
            options->n_best = true;
          },
          "Translations a line, written 'line ||| text ||| log-probability ||| score'")
      ->type_name("NUMBER");
  command->add_flag("--scores", options->scores, "Add '||| log-probability ||| score' to each line");
  command->add_option("--alignment", options->alignment,
                      "Add '||| ' and the word alignment: hard (Pharaoh, 'source-target ...') or soft (weights)");
  command->add_flag("--draw", options->draw, "Draw where the model looked below each translation");
  command->add_flag("--prefix", options->prefix, "Lines are 'source<TAB>prefix'; translations begin with the prefix");
  command->add_option("--temperature", search.temperature, "Of sampling")->capture_default_str();
  command->add_option("--top-k", search.top_k, "Sample from the k likeliest words (0: all)")->capture_default_str();
  command->add_option("--nucleus", search.nucleus, "Sample from the likeliest words that hold this probability")
      ->capture_default_str();
  command->add_option("--seed", search.seed, "Of sampling")->capture_default_str();
  command
      ->add_option("--longest", translator.longest_sentence, "Pieces of a source; a longer one is cut, with a warning")
      ->capture_default_str();
  command->add_option("--batch", translator.search.batch_sentences, "Sentences searched together")
      ->capture_default_str();
  command->add_option("--chunk", options->chunk, "Lines read before translating (0: 1000, or 1 if they are typed)")
      ->capture_default_str();
  command->add_option("--threads,--cpu-threads", translator.threads, "Threads (0: all)")->capture_default_str();
  command->footer(
      "Examples:\n"
      "  echo 'a small house' | heed translate --model my-model\n"
      "  heed translate -m my-model -i test.en -o test.out --beam 10 --alignment hard\n"
      "  heed translate -m first -m second -i test.en --n-best 5\n"
      "  heed translate -m my-model -i test.en --search sample --temperature 0.8 --n-best 3");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
