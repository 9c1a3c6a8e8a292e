#include "heed/jobs/comparison.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/file.h"
#include "heed/base/threads.h"
#include "heed/store/model_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// What systems need not share to be compared: how the steps of training are made.
const std::set<std::string> kOwn{"model",
                                 "preset",
                                 "optimiser",
                                 "learning-rate",
                                 "schedule",
                                 "warm-up",
                                 "beta2",
                                 "weight-decay",
                                 "clip-norm",
                                 "label-smoothing",
                                 "smoothing",
                                 "alignments",
                                 "alignment-weight",
                                 "delay",
                                 "batch-words",
                                 "batch-sentences",
                                 "longest-sentence",
                                 "buffer",
                                 "validate-every",
                                 "save-every",
                                 "show-every",
                                 "patience",
                                 "beam",
                                 "length-penalty",
                                 "shards"};

// "luong:window=local-p,dropout=0.1" as options.
std::vector<GivenOption> options_of(const std::string& system) {
  const std::size_t colon = std::min(system.find(':'), system.size());
  std::vector<GivenOption> options{{"model", system.substr(0, colon), system}};
  if (colon == system.size()) return options;
  for (const std::string& each : parse_list(system.substr(colon + 1))) {
    const std::size_t equals = each.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw OptionError(fmt::format("{}: expected name=value after the colon, not '{}'", system, each));
    options.push_back({each.substr(0, equals), each.substr(equals + 1), system});
  }
  return options;
}

fs::path folder_of(const ComparisonOptions& options, std::string system) {
  for (char& c : system)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("-_.=").find(c) == std::string_view::npos)
      c = '-';
  return options.output / system;
}

std::vector<FieldDescription> shared_fields(Training training) {
  std::vector<FieldDescription> fields = describe_fields([&training](Fields& field) { training.visit(field); });
  std::erase_if(fields, [](const FieldDescription& field) { return kOwn.contains(field.name); });
  return fields;
}

TrainingPlan plan_of(const ComparisonOptions& options, const std::string& system) {
  std::vector<GivenOption> given{{"patience", "0", "compare"}};  // or the budgets would not be the same
  given.insert(given.end(), options.training.begin(), options.training.end());
  const std::vector<GivenOption> own = options_of(system);
  given.insert(given.end(), own.begin(), own.end());
  return plan_training(given);
}

std::vector<TrainingPlan> plan_all(const ComparisonOptions& options) {
  require(!options.output.empty(), "--output: say where the comparison goes");
  require(options.systems.size() >= 2, "[compare] at least two systems are needed, not {}", options.systems.size());
  std::vector<TrainingPlan> plans;
  std::set<fs::path> folders;
  for (const std::string& system : options.systems) {
    TrainingPlan plan = plan_of(options, system);
    const std::vector<FieldDescription> first = shared_fields(plans.empty() ? plan.training : plans[0].training),
                                        these = shared_fields(plan.training);
    for (std::size_t i = 0; i < these.size(); ++i)
      require(these[i].value == first[i].value, "{}: all systems have the same {}; give it as --{}", system,
              these[i].name, these[i].name);
    require(folders.insert(folder_of(options, system)).second, "[compare] {} is there twice", system);
    plans.push_back(std::move(plan));
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].training.output = folder_of(options, options.systems[i]).string();
    check_training(plans[i].training);
  }
  const Training& training = plans[0].training;
  require(training.steps > 0 || training.minutes > 0 || training.epochs > 0,
          "--steps: say how long each system is trained, with --steps, --epochs or --minutes");
  return plans;
}

TestSet test_of(const ComparisonOptions& options, const Training& training) {
  const Job& job = training.declared_job();
  if (options.test.empty() && options.test_lines.empty()) {
    require(training.validates(), "--test: say which samples the systems are compared on");
    return read_test_set(job, training.validation_files(), options.gold, options.gold_first);
  }
  Training files(job);
  files.valid = options.test, files.format = training.format, files.columns = training.columns;
  for (Training::Side& side : files.sides) {
    const auto given = options.test_lines.find(side.side->name);
    require(options.test_lines.empty() || given != options.test_lines.end(),
            "--test-{}: it is missing; a test has a file for every side", side.side->name);
    if (given != options.test_lines.end()) side.valid = given->second;
  }
  return read_test_set(job, files.validation_files(), options.gold, options.gold_first);
}

// Learns them once and lets every plan use the files.
void share_vocabularies(const ComparisonOptions& options, std::vector<TrainingPlan>& plans, const Say& say) {
  const Codes codes = make_codes(plans[0].training, say);
  const auto share = [&](std::size_t side, const std::shared_ptr<const Vocabulary>& vocabulary) {
    if (!vocabulary) return;
    const bool joint = plans[0].training.joint_vocabulary;
    const fs::path path =
        options.output / vocabulary->file_name(joint ? "joint" : plans[0].training.sides[side].side->name);
    write_file(path, vocabulary->serialized());
    for (TrainingPlan& plan : plans) plan.training.sides[side].vocabulary = path.string();
  };
  for (std::size_t i = 0; i < codes.inputs.size(); ++i) share(i, codes.inputs[i]);
  share(codes.inputs.size(), codes.output);
}

std::optional<double> error_rate_of(const Quality& quality) {
  return quality.alignment ? std::optional<double>(quality.alignment->error_rate()) : std::nullopt;
}

std::string optional_number(const std::optional<double>& number) {
  return number ? fmt::format("{:.3f}", *number) : "-";
}

std::vector<std::string> row_of(const ComparedSystem& system) {
  const Quality& quality = system.quality;
  std::vector<std::string> row{system.name};
  for (const auto& [metric, value] : quality.metrics) row.push_back(fmt::format("{:.{}f}", value, metric->digits));
  for (std::string cell :
       {fmt::format("{:.3f}", quality.cross_entropy), optional_number(error_rate_of(quality)),
        optional_number(quality.entropy), fmt::format("{}", system.steps),
        fmt::format("{:.0f}", system.history.words_per_second()), fmt::format("{:.1f}", quality.samples_per_second),
        fmt::format("{:.1f}", static_cast<double>(system.peak_bytes) / 1e6), fmt::format("{}", system.parameters)})
    row.push_back(std::move(cell));
  return row;
}

}  // namespace

Comparison compare_systems(const ComparisonOptions& options, const Say& say) {
  std::vector<TrainingPlan> plans = plan_all(options);
  const TestSet test = test_of(options, plans[0].training);
  if (!test.report.empty()) say("test data: " + test.report);
  fs::create_directories(options.output);
  share_vocabularies(options, plans, say);
  const int threads = static_cast<int>(plans[0].training.threads);
  limit_threads(threads);
  Comparison comparison{{}, plans[0].training.metric_names().front(), 0};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    say(fmt::format("{} ({} of {})", options.systems[i], i + 1, plans.size()));
    const TrainedModel trained = continue_training(std::move(plans[i]), options.replace, say);
    if (trained.result.end == LoopEnd::signal) {
      comparison.signal = trained.result.signal;
      break;
    }
    Runner runner({trained.folder}, threads, say);
    const ModelFolder folder(trained.folder);
    comparison.systems.push_back({options.systems[i], trained.folder, runner.bundle().parameters->count(),
                                  trained.result.step, trained.peak_bytes,
                                  fs::exists(folder.log()) ? read_training_log(folder.log()) : TrainingHistory{},
                                  measure_quality(runner, test)});
  }
  return comparison;
}

std::string comparison_table(const Comparison& comparison) {
  std::vector<std::string> head{"system"};
  if (!comparison.systems.empty())
    for (const auto& [metric, value] : comparison.systems.front().quality.metrics) head.push_back(metric->title);
  for (const char* name :
       {"cross-entropy", "AER", "entropy", "steps", "words/s", "sentences/s", "memory MB", "parameters"})
    head.emplace_back(name);
  std::vector<std::vector<std::string>> rows{head};
  for (const ComparedSystem& system : comparison.systems) rows.push_back(row_of(system));
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += i == 0 ? fmt::format("| {:<{}} |", rows[number][i], widths[i])
                     : fmt::format(" {:>{}} |", rows[number][i], widths[i]);
    text += "\n";
    if (number > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += i == 0 ? fmt::format("|{:-<{}}|", "", widths[i] + 2) : fmt::format("{:->{}}:|", "", widths[i] + 1);
    text += "\n";
  }
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::optional<double>& number) { return number ? Json(*number) : Json(); };
  Json list = Json::array();
  for (const ComparedSystem& system : comparison.systems) {
    Json curve = Json::array();
    for (const LoggedScores& line : system.history.scores)
      curve.push_back({{"step", line.step}, {"seconds", line.seconds}, {"scores", line.values}});
    Json entry{{"system", system.name}, {"folder", system.folder.string()}};
    for (const auto& [metric, value] : system.quality.metrics) entry[metric->name] = value;
    entry.update(Json{{"cross_entropy", system.quality.cross_entropy},
                      {"aer", or_null(error_rate_of(system.quality))},
                      {"attention_entropy", or_null(system.quality.entropy)},
                      {"steps", system.steps},
                      {"training_words_per_second", system.history.words_per_second()},
                      {"decoding_sentences_per_second", system.quality.samples_per_second},
                      {"peak_bytes", system.peak_bytes},
                      {"parameters", system.parameters},
                      {"curve", curve}});
    list.push_back(std::move(entry));
  }
  return Json{{"systems", list}}.dump(2) + "\n";
}

}  // namespace heed
