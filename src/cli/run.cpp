#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <nlohmann/json.hpp>

#include "heed/base/progress.h"
#include "heed/base/threads.h"
#include "heed/base/utf8.h"
#include "heed/cli/commands.h"
#include "heed/cli/output_flags.h"
#include "heed/cli/run_inputs.h"
#include "heed/cli/sample_line.h"
#include "heed/data/transcripts.h"
#include "heed/explain/terminal.h"
#include "heed/jobs/runner.h"

namespace heed::cli {
namespace {

struct RunCommand {
  std::vector<std::string> words;   // MODEL and INPUTS, or INPUTS where --model is given
  std::vector<std::string> models;  // of --model
  std::string input, output = "-", search = "beam", alignment;
  Index best = 1, chunk = 0;
  int threads = 0;
  bool n_best = false, scores = false, draw = false, prefix = false, json = false, verify = false, int8 = false;
  std::string shortlist;
  Shortlist::Limits listed;
  RunOptions options;
  RunSettings settings;
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

// Transcripts of sounds in the format that --output names: the format itself, or a file that ends with it. Of several
// sounds a format that holds one is written to a file for each, named as the sound is.
class Transcripts {
 public:
  Transcripts(const Job& job, const std::string& output) {
    if (job.inputs.front().kind != Kind::sound) return;
    const std::string ending = output.substr(output.rfind('.') + 1);
    for (const std::string& name : transcript_formats())
      if (lowercased(ending) == name) format_ = name, bare_ = ending == output;
  }
  explicit operator bool() const { return !format_.empty(); }
  // Where they go together; "-" where --output names but a format.
  std::string file(const std::string& output) const { return bare_ ? "-" : output; }

  void write(const Sample& sample, const Result& result, bool alone, Output& output) {
    Transcript transcript = result.times ? result.times->transcript : Transcript{};
    transcript.name = sample.inputs.front().text;
    if (result.times) transcript.doubts = result.times->doubts;
    const std::string text = written_transcript(transcript, format_);
    if (alone || can_follow_one_another(format_)) return output.write(text);
    const std::string path = std::filesystem::path(transcript.name).stem().string() + "." + format_;
    require(bare_, "{}: {} holds one sound; say --output {} to get a file for each", path, format_, format_);
    require(written_.insert(path).second, "{}: two sounds would be written to it", path);
    Output(path).write(text);
    fmt::print(stderr, "{}\n", path);
  }

 private:
  std::string format_;
  bool bare_ = false;
  std::set<std::string> written_;
};

std::string json_of(const Job& job, const Sample& sample, const std::vector<Result>& results, bool list) {
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) json[job.inputs[i].name] = sample.inputs[i].text;
  const auto one = [&](const Result& result) {
    nlohmann::ordered_json answer{{job.output.name, result.text}};
    if (job.gives_choice()) {
      answer["score"] = result.score;
      if (result.begin >= 0) answer["start"] = result.begin, answer["end"] = result.end;
      return answer;
    }
    if (job.gives_label()) {
      answer["probability"] = result.score;
      return answer;
    }
    answer["log_probability"] = result.log_probability;
    answer["score"] = result.score;
    if (!result.finished) answer["finished"] = false;
    if (result.alignment) answer["alignment"] = hard_alignment(*result.alignment);
    if (result.times) {
      const auto milliseconds = [](double seconds) { return std::round(seconds * 1000) / 1000; };
      answer["words"] = nlohmann::ordered_json::array();
      for (const TimedWord& word : result.times->transcript.words)
        answer["words"].push_back({{"word", word.word},
                                   {"start", milliseconds(word.begin)},
                                   {"end", milliseconds(word.end)},
                                   {"confidence", word.confidence}});
      if (!result.times->doubts.empty()) answer["doubts"] = result.times->doubts;
    }
    return answer;
  };
  json.update(one(results.front()));
  if (list)
    for (const Result& result : results) json["n_best"].push_back(one(result));
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string written(const RunCommand& command, const Job& job, Index line, const Result& result) {
  std::string text = command.n_best ? fmt::format("{} ||| {}", line, result.text) : result.text;
  if (command.n_best || command.scores)
    text += fmt::format(" ||| {:.6g} ||| {:.6g}", result.log_probability, result.score);
  else if (job.chooses())
    text += fmt::format("\t{:.4f}", result.score);
  if (!command.alignment.empty()) {
    text += " ||| ";
    if (result.alignment)
      text += command.alignment == "hard" ? hard_alignment(*result.alignment) : soft_alignment(*result.alignment);
  }
  text += "\n";
  if (command.draw && result.alignment)
    text +=
        draw_matrix(result.alignment->target, result.alignment->source, result.alignment->weights, terminal_colour()) +
        "\n";
  return text;
}

void check(RunCommand& command) {
  BatchedSearch& batched = command.options.search;
  batched.method = search_method_named(command.search);
  SearchOptions& search = batched.options;
  require(command.alignment.empty() || command.alignment == "hard" || command.alignment == "soft",
          "--alignment: {} is neither hard nor soft", command.alignment);
  require(search.beam >= 1, "--beam: it must be at least 1, not {}", search.beam);
  require(command.best >= 1, "--n-best: it must be at least 1, not {}", command.best);
  require(!command.json || (command.alignment.empty() && !command.draw), "--json has everything; it goes alone");
  if (command.models.empty()) {
    require(!command.words.empty(), "say which model to run: a folder, or --model");
    command.models.push_back(command.words.front());
    command.words.erase(command.words.begin());
  }
  require(command.input.empty() || command.words.empty(), "--input: the inputs are on the command line already");
  if (!command.input.empty()) command.words.push_back(command.input);
  search.best = command.best;
}

void check_search(const RunCommand& command) {
  const SearchOptions& search = command.options.search.options;
  require(command.search != "greedy" || command.best == 1, "--n-best: greedy search finds one output only");
  require(command.search != "beam" || command.best <= search.beam, "--n-best: {} is more than the beam of {}",
          command.best, search.beam);
}

void run(RunCommand command, const Job* expected) {
  check(command);
  if (!expected || !expected->chooses()) check_search(command);
  limit_threads(command.threads);
  const std::vector<std::filesystem::path> folders(command.models.begin(), command.models.end());
  std::optional<Progress> progress;
  Runner runner(
      folders, command.threads,
      [&](const std::string& line) {
        progress ? progress->note("warning: " + line) : fmt::print(stderr, "warning: {}\n", line);
      },
      command.verify ? FolderWeights::verified : FolderWeights::trained, command.int8 ? Numbers::int8 : Numbers::stored,
      command.settings);
  const Job& job = runner.job();
  if (!command.shortlist.empty()) {
    const Codes& codes = runner.bundle().codes;
    require(codes.output && codes.inputs.front(), "--shortlist: {} does not write texts for texts", job.name);
    command.options.search.shortlist = std::make_shared<const Shortlist>(
        Shortlist::read(command.shortlist, *codes.inputs.front(), *codes.output, command.listed));
  }
  require(expected == nullptr || expected == &job, "{}: it is for {}; run it with heed {}", command.models.front(),
          job.name, job.verb);
  RunInputs inputs(command.words, job, !command.input.empty());
  Transcripts transcripts(job, command.output);
  require(!transcripts || (!command.n_best && !command.scores && !command.json),
          "--output: a transcript is of the best output alone, without --n-best, --scores and --json");
  command.options.search.options.probabilities =
      transcripts || command.json || command.scores || command.n_best || command.draw || !command.alignment.empty();
  const std::string file = transcripts.file(command.output);
  Output output(file);
  const bool watched = ::isatty(STDERR_FILENO) == 1 && (file != "-" || ::isatty(STDOUT_FILENO) == 0);
  if (!inputs.are_typed_now() && (watched || inputs.are_files()))
    progress.emplace(ProgressTask{.title = job.verb, .unit = "inputs"});
  // Images and sounds take more room than texts.
  const Index usual = inputs.are_typed_now() ? 1 : is_text(job.inputs.front().kind) ? 1000 : 64;
  const Index chunk = command.chunk > 0 ? command.chunk : usual;

  std::vector<Sample> samples;
  Index doubtful = 0;
  for (bool more = true; more;) {
    samples.clear();
    command.options.prefixes.clear();
    const Index first = inputs.number();
    std::string line, prefix;
    while (static_cast<Index>(samples.size()) < chunk && (more = inputs.next(line))) {
      samples.push_back(sample_of_line(job, line, inputs.place(), command.prefix ? &prefix : nullptr));
      if (command.prefix) command.options.prefixes.push_back(prefix);
    }
    const auto results = runner.run(samples, command.options);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].front().times && !results[i].front().times->doubts.empty()) ++doubtful;
      if (transcripts) {
        transcripts.write(samples[i], results[i].front(), !inputs.need_names(), output);
        continue;
      }
      if (command.json) {
        output.write(json_of(job, samples[i], results[i], command.n_best));
        continue;
      }
      for (const Result& result : results[i]) {
        if (inputs.need_names()) output.write(samples[i].inputs.front().text + "\t");
        output.write(written(command, job, first + static_cast<Index>(i), result));
      }
    }
    output.flush();
    if (progress) progress->update(inputs.number());
  }
  progress.reset();
  if (doubtful > 0)
    fmt::print(stderr, "warning: in {} of {} outputs something may be repeated or left out\n", doubtful,
               inputs.number());
}

std::string input_help(const Job* job) {
  if (job == nullptr)
    return "A model folder, then texts, files with one text per line, or files of images and sounds (default: standard "
           "input)";
  if (!is_text(job->inputs.front().kind))
    return fmt::format("A model folder, then files of kind {0}, folders of them, or lists of them (.txt)",
                       name_of(job->inputs.front().kind));
  std::vector<std::string> names;
  for (const JobSide& side : job->inputs) names.push_back(side.name);
  return names.size() == 1
             ? "A model folder, then texts or files with one text per line (default: standard input)"
             : fmt::format("A model folder, then files of lines with {}{}, separated by tabs (default: standard input)",
                           fmt::join(names, " and "), job->gives_choice() ? " and, if given, choice|choice|..." : "");
}

void add_writer_flags(CLI::App& command, const std::shared_ptr<RunCommand>& options) {
  SearchOptions& search = options->options.search.options;
  command.add_option("--search", options->search, "beam, greedy or sample")->capture_default_str();
  command.add_option("--beam,-b,--beam-size", search.beam, "Hypotheses in the beam")->capture_default_str();
  command.add_option("--length-penalty,--normalize", search.length_penalty, "Exponent of the length penalty (0: none)")
      ->capture_default_str();
  add_length_flags(command, options->options);
  command.add_option("--alignment", options->alignment,
                     "Add '||| ' and the word alignment: hard (Pharaoh, 'source-target ...') or soft (weights)");
  command.add_flag("--draw", options->draw, "Draw below each output where the model looked");
  command.add_flag("--prefix", options->prefix, "Lines are 'input<TAB>prefix'; outputs begin with the prefix");
  command.add_option("--temperature", search.temperature, "Temperature of sampling")->capture_default_str();
  command.add_option("--top-k", search.top_k, "Sample from the k likeliest words (0: all)")->capture_default_str();
  command
      .add_option("--nucleus", search.nucleus, "Sample from the likeliest words that together have this probability")
      ->capture_default_str();
  command.add_option("--seed", search.seed, "Seed of sampling")->capture_default_str();
}

std::string examples_of(const Job& job) {
  if (job.inputs.front().kind == Kind::sound)
    return fmt::format(
        "Examples:\n  heed {0} my-model hello.wav\n  heed {0} my-model hello.wav --output srt\n"
        "  heed {0} my-model *.flac --output words.ctm",
        job.verb);
  if (!is_text(job.inputs.front().kind))
    return fmt::format(
        "Examples:\n  heed {0} my-model one-file another\n  heed {0} my-model folder/ list.txt --output outputs\n"
        "  heed {0} my-model folder/ --n-best 3 --json",
        job.verb);
  const std::string line = fmt::format("{}", fmt::join(job.example, "\\t"));
  std::string text = "Examples:\n";
  if (!job.example.empty()) text += fmt::format("  printf '{}\\n' | heed {} my-model\n", line, job.verb);
  text += fmt::format("  heed {0} my-model inputs --output outputs\n  heed {0} my-model inputs --n-best 3 --json",
                      job.verb);
  if (job.chooses()) return text;
  return text + fmt::format(
                    "\n  heed {0} -m first -m second -i inputs --n-best 5\n"
                    "  heed {0} my-model inputs --search sample --temperature 0.8 --n-best 3",
                    job.verb);
}

// A verb of one job, or of any.
void add_verb(CLI::App& app, const std::string& name, const std::string& summary, const Job* job) {
  CLI::App* command = app.add_subcommand(name, summary);
  const auto options = std::make_shared<RunCommand>();
  command->add_option("words", options->words, input_help(job))->type_name("MODEL [INPUTS]");
  command->add_option("--model,-m", options->models, "Model folder; several make an ensemble")->allow_extra_args(false);
  command->add_option("--input,-i", options->input, "File of inputs, one per line ('-': standard input)");
  const bool transcribes = job != nullptr && job->inputs.front().kind == Kind::sound;
  command
      ->add_option("--output,-o", options->output,
                   transcribes ? fmt::format("File for the outputs ('-': standard output), with times if it ends with "
                                             "one of {}; or one of these alone",
                                             fmt::join(transcript_formats(), ", "))
                               : "File for the outputs ('-': standard output)")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Write one JSON object per input");
  command
      ->add_option_function<Index>(
          "--n-best",
          [options](const Index& best) {
            options->best = best;
            options->n_best = true;
          },
          "Write the best outputs of each input as 'line ||| output ||| log-probability ||| score'")
      ->type_name("NUMBER");
  command->add_flag("--scores", options->scores, "Add '||| log-probability ||| score' to each line");
  if (job == nullptr || !job->chooses()) add_writer_flags(*command, options);
  if (job == nullptr || job->gives_choice()) add_rerank_flag(*command, options->options);
  command
      ->add_option("--longest", options->options.limits.longest,
                   "Longest input in pieces; a longer one is cut, with a warning (0: 500, or as long as those of the "
                   "model's training)")
      ->capture_default_str();
  command->add_option("--batch", options->options.search.batch.samples, "Inputs worked on together")
      ->capture_default_str();
  command
      ->add_option("--chunk", options->chunk,
                   "Inputs read before the work begins (0: 1000, of images and sounds 64, of typed ones 1)")
      ->capture_default_str();
  command->add_option("--threads,--cpu-threads", options->threads, "Threads (0: all)")->capture_default_str();
  command->add_flag("--verify", options->verify, "Read the whole model first and compare it with its digests");
  if (job == nullptr || !job->chooses()) {
    command
        ->add_option("--shortlist", options->shortlist,
                     "Write only words that those of the text are often translated by, from a file of heed shortlist "
                     "or Marian: faster")
        ->type_name("FILE");
    command
        ->add_option("--shortlist-first", options->listed.first,
                     "Of a shortlist, the most frequent words, which may always be written")
        ->capture_default_str();
    command->add_option("--shortlist-best", options->listed.best, "Of a shortlist, the words for each of the text's")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  }
  add_setting_flags(*command, options->settings);
  command->add_flag("--int8", options->int8,
                    "Round the weights of products to eight bits: faster, with a little less precision (see quantise)");
  command->footer(job != nullptr ? examples_of(*job) : "Example:\n  heed run my-model inputs --json");
  command->callback([options, job] { run(*options, job); });
}

}  // namespace

void add_run(CLI::App& app) {
  add_verb(app, "run", "Run a model of any job on inputs, as the job's own command does", nullptr);
  for (const Job& job : jobs()) {
    add_verb(app, job.verb, job.summary, &job);
    for (const std::string& spelling : job.spellings) app.get_subcommand(job.verb)->alias(spelling);
  }
}

}  // namespace heed::cli
