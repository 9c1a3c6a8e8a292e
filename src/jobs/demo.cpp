#include "heed/jobs/demo.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/data/text_file.h"
#include "heed/explain/terminal.h"
#include "heed/jobs/quality.h"
#include "heed/trace/merge.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr Index kDrawn = 5;
// Words of a text that is worth looking at; a document is wrapped.
constexpr std::size_t kLeastWords = 7, kMostOfDocument = 60;

// demo.json says which corpus the folder holds, or, while one is written, none. It is also what tells a demo's folder,
// in which files may be replaced, from any other.
void make_corpus(const DemoOptions& options, const Say& print) {
  const JobDemo& demo = *options.job->demo;
  const fs::path mark = options.output / "demo.json";
  const Index samples = options.samples > 0 ? options.samples : demo.samples;
  const std::string job = options.job->is_default ? "" : fmt::format("\"job\": \"{}\", ", options.job->name);
  const std::string wanted = fmt::format("{{{}\"pairs\": {}, \"seed\": {}}}\n", job, samples, options.seed);
  const bool ours = fs::exists(mark);
  require(ours || !fs::exists(options.output) || (fs::is_directory(options.output) && fs::is_empty(options.output)),
          "{}: it is there, and no demo made it; choose another folder with --output", options.output.string());
  if (ours && read_file(mark) == wanted) return;
  fs::create_directories(options.output);
  write_file(mark, "{}\n");
  print(demo.write_corpus(options.output, samples, static_cast<std::uint64_t>(options.seed)));
  write_file(mark, wanted);
}

// Files of a split as options: a table, or a file of lines for each column.
void add_files(const Job& job, const SampleFiles& files, const std::string& table, const std::string& before,
               std::vector<GivenOption>& given) {
  if (files.format != "lines") {
    given.push_back({table, fmt::format("{}", fmt::join(files.files, ",")), "demo"});
    return;
  }
  for (std::size_t i = 0; i < job.columns.size(); ++i)
    given.push_back({before + job.columns[i], files.files[i], "demo"});
}

TrainingPlan make_plan(const DemoOptions& options) {
  const JobDemo& demo = *options.job->demo;
  std::vector<GivenOption> given{{"job", options.job->name, "demo"}};
  for (const auto& [name, value] : demo.options) given.push_back({name, value, "demo"});
  const JobDemo::Corpus corpus = demo.files(options.output);
  add_files(*options.job, corpus.train, "data", "", given);
  add_files(*options.job, corpus.valid, "valid", "valid-", given);
  given.push_back({"output", (options.output / "model").string(), "--output"});
  given.push_back({"steps", fmt::format("{}", options.steps > 0 ? options.steps : demo.steps), "--steps"});
  given.push_back({"seed", fmt::format("{}", options.seed), "--seed"});
  given.push_back({"threads", fmt::format("{}", options.threads), "--threads"});
  given.insert(given.end(), options.training.begin(), options.training.end());
  return plan_training(given);
}

bool worth_drawing(const Job& job, const Sample& sample) {
  for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
    if (!is_text(job.inputs[i].kind)) continue;
    const std::size_t words = words_of_line(sample.inputs[i].text).size();
    const std::size_t most =
        job.inputs[i].kind == Kind::document ? kMostOfDocument : static_cast<std::size_t>(job.demo->most_words);
    if (words < kLeastWords || words > most) return false;
  }
  return true;
}

std::vector<std::string> outputs_of(const Quality& quality) {
  std::vector<std::string> outputs;
  for (const Result& result : quality.outputs) outputs.push_back(result.text);
  return outputs;
}

std::string drawn(const Sample& sample, const Trace& trace) {
  std::string text = "\n";
  for (const Value& value : sample.inputs) text += value.text + "\n";
  const std::string& given = trace.output().text.text;
  const std::string& right = sample.outputs.front();
  text += fmt::format("→ {}{}\n", given, given == right ? "" : fmt::format("\n  (should be: {})", right));
  const Trace words = without_end(by_words(trace));
  return text + (words.alignment ? draw_terminal(words, terminal_colour()) : "");
}

}  // namespace

bool demo_has_option(const Job& job, const std::string& name) {
  std::string model = job.system;
  for (const auto& [option, value] : job.demo->options)
    if (option == "model") model = value;
  const System& system = system_named(model);
  const std::unique_ptr<Config> config = system.config(system.presets.front());
  const auto fields = describe_fields([&config](Fields& field) { config->visit(field); });
  return std::any_of(fields.begin(), fields.end(), [&name](const auto& field) { return field.name == name; });
}

int run_demo(const DemoOptions& options, const Say& print, const Say& say) {
  const Job& job = *options.job;
  make_corpus(options, print);
  const TrainedModel trained = continue_training(make_plan(options), true, say);
  if (trained.result.end == LoopEnd::signal) return trained.result.signal;
  const JobDemo::Corpus corpus = job.demo->files(options.output);
  const TestSet test = read_test_set(job, corpus.test, corpus.gold);
  Runner runner({trained.folder}, options.threads, say);
  const Quality quality = measure_quality(runner, test);
  std::string line = fmt::format("\n{} unseen {}: ", test.samples.size(), job.demo->noun);
  for (const auto& [metric, value] : quality.metrics)
    line += fmt::format("{}{} {:.1f}", metric == quality.metrics.front().first ? "" : ", ", metric->title, value);
  if (quality.alignment) line += fmt::format(", alignment error rate {:.3f}", quality.alignment->error_rate());
  if (quality.gold && quality.regions)
    line += fmt::format(
        ",\nfor each noun {:.2f} of the weight in the box of the thing and {:.2f} of the largest weights (uniform: "
        "{:.2f})",
        quality.gold->share, quality.gold->hits, quality.gold->uniform);
  else if (quality.gold)
    line += fmt::format(", weight on the words that decide {:.2f} (uniform weights: {:.2f})", quality.gold->share,
                        quality.gold->uniform);
  if (quality.times)
    line += fmt::format(", begins and ends of words within 20, 50 and 100 ms: {:.0f}, {:.0f} and {:.0f} %",
                        100 * quality.times->share(0), 100 * quality.times->share(1), 100 * quality.times->share(2));
  print(line);
  if (job.demo->report) print(job.report(outputs_of(quality), test.samples));
  print(fmt::format("Five of them, and {}:", job.demo->about));
  std::vector<Sample> shown;
  for (const Sample& sample : test.samples)
    if (static_cast<Index>(shown.size()) < kDrawn && worth_drawing(job, sample)) shown.push_back(sample);
  std::vector<Sample> inputs;
  inputs.reserve(shown.size());
  for (const Sample& sample : shown) inputs.push_back(without_outputs(sample));
  const std::vector<Trace> traces = runner.explain(inputs);
  for (std::size_t i = 0; i < traces.size(); ++i) print(drawn(shown[i], traces[i]));
  print(fmt::format("The model is in {}. Try:\n  {}", trained.folder.string(),
                    fmt::format(fmt::runtime(job.demo->next), trained.folder.string())));
  return 0;
}

}  // namespace heed
