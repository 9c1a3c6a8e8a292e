#include "heed/jobs/translation_training.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "heed/base/file.h"
#include "heed/data/subwords.h"
#include "heed/data/words.h"
#include "heed/store/fields_file.h"
#include "heed/jobs/translation_task.h"
#include "heed/tensor/memory.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::shared_ptr<const Vocabulary> train_vocabulary(const TranslationTraining& training,
                                                   const std::vector<std::string>& files, int column) {
  if (training.vocabulary == "words") return train_words(files, {.size = training.vocabulary_size, .column = column});
  SubwordOptions options;
  options.size = training.vocabulary_size;
  options.kind = training.vocabulary;
  options.seed = static_cast<std::uint64_t>(training.seed);
  options.column = column;
  return train_subwords(files, options);
}

SchedulePointer make_schedule(const TranslationTraining& training) {
  if (training.schedule == "inverse-root")
    return inverse_root_rate({.peak = training.learning_rate, .warm_up = std::max<Index>(training.warm_up, 1)});
  if (training.schedule == "plateau") {
    const std::string metric = parse_list(training.metrics).front();
    return plateau_rate({.rate = training.learning_rate,
                         .factor = 0.5,
                         .patience = 1,
                         .minimum = training.learning_rate / 64,
                         .higher_is_better = metric == "bleu" || metric == "chrf"});
  }
  return constant_rate(training.learning_rate);
}

LoopOptions loop_options(const TranslationTraining& training) {
  LoopOptions options;
  options.optimiser = optimiser_named(training.optimiser);
  if (Adam* adam = std::get_if<Adam>(&options.optimiser.algorithm)) adam->beta2 = training.beta2;
  if (training.weight_decay > 0) options.optimiser.weight_decay = training.weight_decay;
  options.workers.shards = training.shards;
  options.workers.threads = static_cast<int>(training.threads);
  options.workers.seed = static_cast<std::uint64_t>(training.seed);
  options.delay = training.delay;
  options.clip_norm = training.clip_norm;
  options.smoothing = training.smoothing;
  options.validate = parse_every(training.validate_every, "--validate-every");
  options.save = parse_every(training.save_every, "--save-every");
  options.show = training.show_every;
  options.patience = training.valid_source.empty() ? 0 : training.patience;
  options.steps = training.steps;
  options.epochs = training.epochs;
  options.minutes = training.minutes;
  return options;
}

std::string training_text(TranslationTraining training, const Json& outcome) {
  const std::string options = fields_json([&training](Fields& field) { training.visit(field); }, 4);
  return fmt::format("{{\n  \"options\": {},\n  \"outcome\": {}\n}}\n", options, outcome.dump());
}

// training.json, whose "options" are always there.
Json read_training(const ModelFolder& folder) {
  Json json = Json::parse(read_file(folder.training()), nullptr, false);
  require(json.is_object() && json.contains("options") && json["options"].is_object(),
          "{}: it is damaged, or does not say how the model was trained", folder.training().string());
  return json;
}

// What an earlier run of the training took; 0 if there was none.
std::size_t earlier_peak(const ModelFolder& folder) {
  const Json json = read_training(folder);
  return json.contains("outcome") && json["outcome"].is_object() ? json["outcome"].value("peak-bytes", std::size_t{0})
                                                                 : 0;
}

const char* name_of(LoopEnd end) {
  switch (end) {
    case LoopEnd::steps: return "steps";
    case LoopEnd::epochs: return "epochs";
    case LoopEnd::minutes: return "minutes";
    case LoopEnd::patience: return "patience";
    default: return "signal";
  }
}

TrainedTranslation run(const ModelFolder& folder, const TranslationBundle& bundle, const TranslationTraining& training,
                       TranslationTask& task, const Say& say) {
  TrainingLoop loop(*bundle.parameters, task, make_schedule(training), loop_options(training));
  if (folder.has_checkpoint()) {
    loop.resume(load_checkpoint(folder.checkpoint()));
    say(fmt::format("going on after step {}", loop.step()));
  }
  TrainingLog log(folder.log(), loop.step(), training.steps);
  LoopFiles files;
  files.save = [&](const Checkpoint& checkpoint) { save_checkpoint(folder.checkpoint(), checkpoint); };
  files.keep = [&] { folder.save_weights(*bundle.parameters); };
  memory::reset_peak();
  const LoopResult result = loop.run(files, log);
  const std::size_t peak = std::max(earlier_peak(folder), memory::statistics().peak_bytes);
  Json outcome{{"end", name_of(result.end)}, {"steps", result.step}, {"peak-bytes", peak}};
  if (result.best) outcome[parse_list(training.metrics).front()] = *result.best;
  write_file(folder.training(), training_text(training, outcome));
  return {result, folder.path(), peak};
}

void say_what_was_found(const TranslationTask& task, const Say& say) {
  say("training data: " + task.training_report().text());
  if (task.validation_report().lines > 0) say("validation data: " + task.validation_report().text());
}

// A batch is cut into as many pieces as there are processors, unless another number is asked for.
void choose_shards(TranslationTraining& training) {
  if (training.shards == 0) training.shards = std::max<Index>(std::thread::hardware_concurrency(), 1);
}

// Whether the folder's training and model have the options of the plan.
bool began_like(const ModelFolder& folder, TranslationPlan& plan) {
  if (folder.model() != plan.training.model) return false;
  choose_shards(plan.training);
  TranslationPlan found{training_of_folder(folder.path()),
                        std::move(load_translation(folder, FolderWeights::fresh).config)};
  found.training.threads = plan.training.threads;
  return fields_json([&found](Fields& field) { found.visit(field); }) ==
         fields_json([&plan](Fields& field) { plan.visit(field); });
}

}  // namespace

Vocabularies make_vocabularies(const TranslationTraining& training, const Say& say) {
  const bool columns = !training.tsv.empty();
  const std::vector<std::string> source = parse_list(columns ? training.tsv : training.source);
  const std::vector<std::string> target = parse_list(columns ? training.tsv : training.target);
  Vocabularies result;
  if (training.joint_vocabulary && training.source_vocabulary.empty()) {
    std::vector<std::string> all = source;
    if (!columns) all.insert(all.end(), target.begin(), target.end());
    say(fmt::format("learning one vocabulary of {} ({}) for both languages", training.vocabulary_size,
                    training.vocabulary));
    result.source = result.target = train_vocabulary(training, all, -1);
    return result;
  }
  const auto of_side = [&](const char* side, const std::string& given, const std::vector<std::string>& files,
                           int column) {
    if (!given.empty()) return load_vocabulary(given);
    say(fmt::format("learning a {} vocabulary of {} ({})", side, training.vocabulary_size, training.vocabulary));
    return train_vocabulary(training, files, columns ? column : -1);
  };
  result.source = of_side("source", training.source_vocabulary, source, 0);
  result.target = of_side("target", training.target_vocabulary, target, 1);
  return result;
}

TrainedTranslation train_translation(TranslationPlan plan, bool replace, const Say& say) {
  TranslationTraining& training = plan.training;
  check_training(training);
  require(replace || !is_model_folder(training.output),
          "{}: there is a model already; --resume continues its training, --force replaces it", training.output);
  choose_shards(training);
  const Vocabularies vocabularies = make_vocabularies(training, say);
  const TranslationBundle bundle = make_translation(training.model, std::move(plan.config), vocabularies.source,
                                                    vocabularies.target, static_cast<std::uint64_t>(training.seed));
  // The data are opened before the folder is made: what is wrong with them costs no older model.
  TranslationTask task(bundle, training);
  say_what_was_found(task, say);
  const ModelFolder folder = create_translation_folder(
      training.output, bundle, {{"training.json", training_text(training, Json::object())}}, replace);
  say(fmt::format("{} with {} parameters, vocabularies of {} and {}", bundle.name, bundle.parameters->count(),
                  bundle.source->size(), bundle.target->size()));
  return run(folder, bundle, training, task, say);
}

TrainedTranslation continue_translation(TranslationPlan plan, bool replace, const Say& say) {
  if (!is_model_folder(plan.training.output)) return train_translation(std::move(plan), replace, say);
  if (began_like(ModelFolder(plan.training.output), plan)) return resume_translation(plan.training, say);
  require(replace, "{}: there is a model that was trained otherwise; --force replaces it", plan.training.output);
  return train_translation(std::move(plan), replace, say);
}

TranslationTraining training_of_folder(const std::filesystem::path& path) {
  const ModelFolder folder(path);
  const std::string file = folder.training().string();
  const Json json = read_training(folder);
  TranslationTraining training;
  for (const auto& [name, text] : read_options(json["options"].dump(), file))
    require(set_field([&training](Fields& field) { training.visit(field); }, name, text, file),
            "{}: there is no option {}", file, name);
  return training;
}

TrainedTranslation resume_translation(const TranslationTraining& training, const Say& say) {
  check_training(training);
  const ModelFolder folder(training.output);
  folder.remove_partial_files();
  const TranslationBundle bundle =
      load_translation(folder, FolderWeights::fresh, static_cast<std::uint64_t>(training.seed));
  TranslationTask task(bundle, training);
  say_what_was_found(task, say);
  return run(folder, bundle, training, task, say);
}

}  // namespace heed
