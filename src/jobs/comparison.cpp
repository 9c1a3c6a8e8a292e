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

// What systems must share to be compared.
const std::set<std::string> kShared{"source",
                                    "target",
                                    "tsv",
                                    "valid-source",
                                    "valid-target",
                                    "source-vocabulary",
                                    "target-vocabulary",
                                    "vocabulary",
                                    "vocabulary-size",
                                    "joint-vocabulary",
                                    "output",
                                    "seed",
                                    "steps",
                                    "epochs",
                                    "minutes",
                                    "threads",
                                    "metrics"};

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

std::vector<FieldDescription> shared_fields(TranslationTraining training) {
  std::vector<FieldDescription> fields = describe_fields([&training](Fields& field) { training.visit(field); });
  std::erase_if(fields, [](const FieldDescription& field) { return !kShared.contains(field.name); });
  return fields;
}

TranslationPlan plan_of(const ComparisonOptions& options, const std::string& system) {
  std::vector<GivenOption> given{{"patience", "0", "compare"}};  // or the budgets would not be the same
  given.insert(given.end(), options.training.begin(), options.training.end());
  const std::vector<GivenOption> own = options_of(system);
  given.insert(given.end(), own.begin(), own.end());
  return plan_translation(given);
}

std::vector<TranslationPlan> plan_all(const ComparisonOptions& options) {
  require(!options.output.empty(), "--output: say where the comparison goes");
  require(options.systems.size() >= 2, "[compare] at least two systems are needed, not {}", options.systems.size());
  std::vector<TranslationPlan> plans;
  std::set<fs::path> folders;
  for (const std::string& system : options.systems) {
    TranslationPlan plan = plan_of(options, system);
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
  const TranslationTraining& training = plans[0].training;
  require(training.steps > 0 || training.minutes > 0 || training.epochs > 0,
          "--steps: say how long each system is trained, with --steps, --epochs or --minutes");
  return plans;
}

TranslationTestSet test_of(const ComparisonOptions& options, const TranslationTraining& training) {
  require(options.test_source.empty() == options.test_target.empty(),
          "--test-{}: it is missing; --test-source and --test-target belong together",
          options.test_source.empty() ? "source" : "target");
  const bool own = !options.test_source.empty();
  require(own || !training.valid_source.empty(), "--test-source: say which sentences the systems are compared on");
  return read_test_set(own ? options.test_source : training.valid_source,
                       own ? options.test_target : training.valid_target, options.gold);
}

// Trains them once and lets every plan use the files.
void share_vocabularies(const ComparisonOptions& options, std::vector<TranslationPlan>& plans, const Say& say) {
  const Vocabularies vocabularies = make_vocabularies(plans[0].training, say);
  const auto write = [&options](const Vocabulary& vocabulary, const char* side) {
    const fs::path path = options.output / vocabulary.file_name(side);
    write_file(path, vocabulary.serialized());
    return path.string();
  };
  const bool joint = vocabularies.source == vocabularies.target;
  const std::string source = write(*vocabularies.source, joint ? "joint" : "source");
  const std::string target = joint ? source : write(*vocabularies.target, "target");
  for (TranslationPlan& plan : plans) {
    plan.training.source_vocabulary = source;
    plan.training.target_vocabulary = target;
  }
}

std::optional<double> error_rate_of(const TranslationQuality& quality) {
  return quality.alignment ? std::optional<double>(quality.alignment->error_rate()) : std::nullopt;
}

std::string optional_number(const std::optional<double>& number) {
  return number ? fmt::format("{:.3f}", *number) : "-";
}

std::vector<std::string> row_of(const ComparedSystem& system) {
  const TranslationQuality& quality = system.quality;
  return {system.name,
          fmt::format("{:.2f}", quality.bleu),
          fmt::format("{:.2f}", quality.chrf),
          fmt::format("{:.3f}", quality.cross_entropy),
          optional_number(error_rate_of(quality)),
          optional_number(quality.entropy),
          fmt::format("{}", system.steps),
          fmt::format("{:.0f}", system.history.words_per_second()),
          fmt::format("{:.1f}", quality.sentences_per_second),
          fmt::format("{:.1f}", static_cast<double>(system.peak_bytes) / 1e6),
          fmt::format("{}", system.parameters)};
}

}  // namespace

Comparison compare_translation(const ComparisonOptions& options, const Say& say) {
  std::vector<TranslationPlan> plans = plan_all(options);
  const TranslationTestSet test = test_of(options, plans[0].training);
  fs::create_directories(options.output);
  share_vocabularies(options, plans, say);
  const int threads = static_cast<int>(plans[0].training.threads);
  limit_threads(threads);
  Comparison comparison{{}, parse_list(plans[0].training.metrics).front(), 0};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    say(fmt::format("{} ({} of {})", options.systems[i], i + 1, plans.size()));
    const TrainedTranslation trained = continue_translation(std::move(plans[i]), options.replace, say);
    if (trained.result.end == LoopEnd::signal) {
      comparison.signal = trained.result.signal;
      break;
    }
    Translator translator({trained.folder}, {.threads = threads}, say);
    const ModelFolder folder(trained.folder);
    comparison.systems.push_back({options.systems[i], trained.folder, translator.bundle().parameters->count(),
                                  trained.result.step, trained.peak_bytes,
                                  fs::exists(folder.log()) ? read_training_log(folder.log()) : TrainingHistory{},
                                  measure_translation(translator, test)});
  }
  return comparison;
}

std::string comparison_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows{{"system", "BLEU", "chrF", "cross-entropy", "AER", "entropy", "steps",
                                              "words/s", "sentences/s", "memory MB", "parameters"}};
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
    list.push_back({{"system", system.name},
                    {"folder", system.folder.string()},
                    {"bleu", system.quality.bleu},
                    {"chrf", system.quality.chrf},
                    {"cross_entropy", system.quality.cross_entropy},
                    {"aer", or_null(error_rate_of(system.quality))},
                    {"attention_entropy", or_null(system.quality.entropy)},
                    {"steps", system.steps},
                    {"training_words_per_second", system.history.words_per_second()},
                    {"decoding_sentences_per_second", system.quality.sentences_per_second},
                    {"peak_bytes", system.peak_bytes},
                    {"parameters", system.parameters},
                    {"curve", curve}});
  }
  return Json{{"systems", list}}.dump(2) + "\n";
}

}  // namespace heed
