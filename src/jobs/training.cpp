#include "heed/jobs/training.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/file.h"
#include "heed/base/json-inl.h"
#include "heed/base/surviving_process.h"
#include "heed/data/labels.h"
#include "heed/data/spooled_files.h"
#include "heed/data/subwords.h"
#include "heed/data/words.h"
#include "heed/jobs/given_encoder.h"
#include "heed/jobs/given_model.h"
#include "heed/jobs/given_vectors.h"
#include "heed/jobs/kept_sense.h"
#include "heed/jobs/training_data.h"
#include "heed/jobs/training_ranks.h"
#include "heed/jobs/training_task.h"
#include "heed/store/fields_file.h"
#include "heed/store/folder_lock.h"
#include "heed/store/safetensors.h"
#include "heed/tensor/memory.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDataFile = "data.json";

std::shared_ptr<const Vocabulary> learn_vocabulary(const Training& training, const TrainingText& text) {
  if (training.vocabulary == "words" || training.vocabulary == "tokens" || training.vocabulary == "letters") {
    WordOptions options;
    options.size = training.vocabulary_size;
    options.cutting = cutting_of("." + training.vocabulary + ".txt");
    if (!training.vectors.empty() && training.vectors_words == "all")
      options.more = words_with_vectors(training.vectors);
    return train_words(text, options);
  }
  SubwordOptions options;
  options.size = training.vocabulary_size;
  options.kind = training.vocabulary;
  options.seed = static_cast<std::uint64_t>(training.seed);
  return train_subwords(text, options);
}

// The texts of one side.
TrainingText text_of(const Training& training, const Training::Side& side) {
  if (!side.files.empty() && training.dictionary.empty()) return {parse_list(side.files), training.allow_bad_lines};
  return {training.training_files(), training.declared_job().sample_columns(), {side.side->name}};
}

// Every tensor of real numbers in the file; none if there is no file.
std::vector<NamedTensor> ready_made_weights(const std::string& path) {
  std::vector<NamedTensor> weights;
  if (path.empty()) return weights;
  const SafetensorsFile file(path);
  for (const std::string& name : file.names()) {
    const Dtype dtype = file.info(name).dtype;
    if (dtype == Dtype::f16 || dtype == Dtype::bf16 || dtype == Dtype::f32 || dtype == Dtype::f64)
      weights.push_back({name, file.tensor(name)});
  }
  return weights;
}

// The senses of the inputs that are no texts, ready to be used.
std::vector<std::shared_ptr<const Sense>> learn_senses(const Training& training, const System& system,
                                                       const Config& config) {
  const Job& job = training.declared_job();
  std::vector<std::shared_ptr<const Sense>> senses;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    std::shared_ptr<Sense> sense = make_sense(job, system, config, i);
    senses.push_back(sense);
    if (!sense) continue;
    std::optional<Samples> samples;  // opened when it is asked for
    const auto next = [&](Value& value) {
      if (!samples) samples.emplace(training.training_files(), job.sample_columns());
      for (Sample sample; samples->next(sample);) {
        try {
          value = decoded(job.inputs[i].kind, sample.inputs[i]);
          return true;
        } catch (const Error&) {  // it is counted when batches are made
        }
      }
      return false;
    };
    sense->learn({ready_made_weights(training.encoder), next});
  }
  return senses;
}

// What turns samples into numbers: that of the model to begin with, or learnt from the training's files.
Codes codes_of(const Training& training, const System& system, const Config& config, const Say& say) {
  if (!training.from.empty()) return first_codes(training.from, config);
  Codes codes = make_codes(training, say);
  codes.senses = learn_senses(training, system, config);
  return codes;
}

// The weights of a training that has not taken a step, as far as they are not drawn.
void give_first_weights(Bundle& bundle, const Training& training, const Say& say) {
  const std::set<std::string> encoder = give_encoder(bundle);
  if (!encoder.empty()) say("the encoder is fine-tuned with the model");
  if (!training.from.empty()) say(give_weights(bundle, training.from, encoder));
  if (!training.vectors.empty()) say(give_vectors(bundle, training.vectors));
}

SchedulePointer make_schedule(const Training& training) {
  if (training.schedule == "inverse-root")
    return inverse_root_rate({.peak = training.learning_rate, .warm_up = std::max<Index>(training.warm_up, 1)});
  if (training.schedule == "plateau") {
    const std::string decides = training.metric_names().front();
    const std::vector<Metric>& known = training.declared_job().metrics;
    const auto metric =
        std::find_if(known.begin(), known.end(), [&](const Metric& each) { return each.name == decides; });
    return plateau_rate({.rate = training.learning_rate,
                         .factor = 0.5,
                         .patience = 1,
                         .minimum = training.learning_rate / 64,
                         .higher_is_better = metric != known.end() && metric->higher_is_better});
  }
  return constant_rate(training.learning_rate);
}

LoopOptions loop_options(const Training& training) {
  LoopOptions options;
  options.optimiser = optimiser_named(training.optimiser);
  if (Adam* adam = std::get_if<Adam>(&options.optimiser.algorithm)) adam->beta2 = training.beta2;
  if (training.weight_decay > 0) options.optimiser.weight_decay = training.weight_decay;
  options.optimiser.lazy = training.lazy;
  options.workers.shards = training.shards;
  options.workers.threads = static_cast<int>(training.threads);
  options.workers.seed = static_cast<std::uint64_t>(training.seed);
  options.workers.wire = training.wire == "bf16" ? Wire::bf16 : Wire::full;
  options.delay = training.delay;
  options.clip_norm = training.clip_norm;
  options.max_norm = training.max_norm;
  options.weight_noise = training.weight_noise;
  options.smoothing = training.smoothing;
  options.validate = parse_every(training.validate_every, "--validate-every");
  options.save = parse_every(training.save_every, "--save-every");
  options.show = training.show_every;
  options.patience = training.validates() ? training.patience : 0;
  options.steps = training.steps;
  options.epochs = training.epochs;
  options.minutes = training.minutes;
  return options;
}

std::string training_text(Training training, const std::vector<std::string>& example, const Json& outcome) {
  const std::string options = fields_json([&training](Fields& field) { training.visit(field); }, 4);
  return fmt::format("{{\n  \"options\": {},\n  \"example\": {},\n  \"outcome\": {}\n}}\n", options,
                     Json(example).dump(), outcome.dump());
}

// training.json, whose "options" are always there.
Json read_training(const ModelFolder& folder) {
  Json json = read_json_file<Json>(folder.training());
  require(json.is_object() && json.contains("options") && json["options"].is_object(),
          "{}: it is damaged, or does not say how the model was trained", folder.training().string());
  return json;
}

// What an earlier run of the training took; 0 if there was none.
std::size_t earlier_peak(const ModelFolder& folder) {
  const Json json = read_training(folder);
  if (!json.contains("outcome") || !json["outcome"].is_object()) return 0;
  return static_cast<std::size_t>(whole_field(json["outcome"], "peak-bytes", 0, folder.training().string()));
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

TrainingLog open_log(const ModelFolder& folder, Index step, Index steps, const Ranks& ranks) {
  if (ranks.first()) return {folder.log(), step, steps};
  ProgressScreen silent = ProgressScreen::standard_error();
  silent.write = [](std::string_view) {};
  return {{}, step, steps, silent};
}

TrainedModel run(const ModelFolder& folder, const Bundle& bundle, const Training& training, JobTask& task,
                 const KeptFeatures& kept, const Say& say, const RanksPointer& ranks) {
  TrainingLoop loop(*bundle.parameters, task, make_schedule(training), loop_options(training), ranks);
  ranks->together([&] {
    if (!folder.has_checkpoint()) return;
    loop.resume(load_checkpoint(folder.checkpoint()));
    say(fmt::format("going on after step {}", loop.step()));
  });
  TrainingLog log = open_log(folder, loop.step(), training.steps, *ranks);
  LoopFiles files;
  files.save = [&](const Checkpoint& checkpoint) { ranks->once([&] { folder.save_checkpoint(checkpoint); }); };
  files.keep = [&] { ranks->once([&] { folder.save_weights(*bundle.parameters); }); };
  if (!ranks->alone() && ranks->first())
    files.rescue = [&](const Checkpoint& checkpoint) {
      constexpr double kSeconds = 120;
      run_in_surviving_process([&] { folder.save_checkpoint(checkpoint); }, kSeconds);
    };
  memory::reset_peak();
  ranks->set_patience(training.rank_timeout);
  const LoopResult result = loop.run(files, log);
  std::size_t peak = memory::statistics().peak_bytes;
  ranks->once([&] {
    if (result.end != LoopEnd::signal) kept.remove();
    peak = std::max(earlier_peak(folder), peak);
    Json outcome{{"end", name_of(result.end)}, {"steps", result.step}, {"peak-bytes", peak}};
    if (result.best) outcome[training.metric_names().front()] = *result.best;
    if (task.choices_given()) outcome["choices-given"] = true;
    folder.save_text("training.json", training_text(training, task.example(), outcome));
  });
  return {result, folder.path(), peak};
}

void say_what_was_found(const JobTask& task, const Say& say) {
  say("training data: " + task.training_report().text());
  if (task.validation_report().read > 0) say("validation data: " + task.validation_report().text());
}

// The data must be what the training began with. Gives what data.json says of them.
std::string checked_data(const ModelFolder& folder, const Training& training, ChangedData changed, const Say& say) {
  const std::filesystem::path file = folder.path() / kDataFile;
  const TrainingData now(training);
  if (std::filesystem::exists(file)) {
    const TrainingData::Difference difference =
        now.since(TrainingData::from_json(read_file(file, kLargestJsonFile), file.string()));
    for (const std::string& doubt : difference.doubts) say(doubt);
    require(difference.changes.empty() || changed == ChangedData::accepted,
            "{}: its data changed since the training was stopped: {}; --accept-changed-data goes on with it",
            folder.path().string(), fmt::join(difference.changes, "; "));
    for (const std::string& change : difference.changes) say("going on with changed data: " + change);
  }
  return now.json();
}

// Says so where the file system cannot keep a second training out.
void say_how_it_is_locked(const FolderLock& lock, const std::filesystem::path& folder, const Say& say) {
  if (!lock.weakness().empty())
    say(fmt::format("{}: its file system has no locks ({}); nothing keeps a second training out", folder.string(),
                    lock.weakness()));
}

// "vocabularies of 8000 and 8000", "a vocabulary of 8000, 3 labels".
std::string sizes_of(const Bundle& bundle) {
  std::vector<Index> sizes;
  for (const auto& vocabulary : bundle.codes.inputs)
    if (vocabulary) sizes.push_back(vocabulary->size());
  if (bundle.codes.output) sizes.push_back(bundle.codes.output->size());
  std::vector<std::string> parts;
  if (!sizes.empty())
    parts.push_back(
        fmt::format("{} of {}", sizes.size() == 1 ? "a vocabulary" : "vocabularies", fmt::join(sizes, " and ")));
  if (!bundle.codes.labels.empty()) parts.push_back(fmt::format("{} labels", bundle.codes.labels.size()));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Whether the folder's training and model have the options of the plan.
bool began_like(const ModelFolder& folder, TrainingPlan& plan) {
  if (folder.model() != plan.training.model || job_named(folder.job()).name != plan.training.job) return false;
  Ranks alone;
  choose_shards(plan.training, alone);
  TrainingPlan found{training_of_folder(folder.path()), load_bundle(folder, FolderWeights::fresh).config};
  found.training.threads = plan.training.threads;
  return fields_json([&found](Fields& field) { found.visit(field); }) ==
         fields_json([&plan](Fields& field) { plan.visit(field); });
}

}  // namespace

void require_free_folder(const std::filesystem::path& folder, bool replace) {
  const std::string holder = FolderLock::holder(folder);
  require(holder.empty(), "{}: it is in use by another training: {}", folder.string(), holder);
  require(replace || !is_model_folder(folder),
          "{}: there is a model already; --resume continues its training, --force replaces it", folder.string());
}

Codes make_codes(const Training& training, const Say& say) {
  const Job& job = training.declared_job();
  Codes codes;
  std::shared_ptr<const Vocabulary> joint;
  const auto code_of = [&](const Training::Side& side) -> std::shared_ptr<const Vocabulary> {
    if (!is_text(side.side->kind)) return nullptr;
    if (joint) return joint;
    std::shared_ptr<const Vocabulary> vocabulary;
    if (!side.vocabulary.empty()) {
      vocabulary = load_vocabulary(side.vocabulary);
    } else {
      TrainingText text = text_of(training, side);
      if (training.joint_vocabulary)
        for (const Training::Side& other : training.sides)
          if (&other != &side && is_text(other.side->kind)) text += text_of(training, other);
      say(fmt::format("learning {} vocabulary of at most {} entries ({})",
                      training.joint_vocabulary ? "one" : "a " + side.side->name, training.vocabulary_size,
                      training.vocabulary));
      vocabulary = learn_vocabulary(training, text);
    }
    if (training.joint_vocabulary) joint = vocabulary;
    return vocabulary;
  };
  for (std::size_t i = 0; i < job.inputs.size(); ++i) codes.inputs.push_back(code_of(training.sides[i]));
  codes.output = code_of(training.sides.back());
  if (job.gives_label()) codes.labels = learn_labels(training.training_files(), job.sample_columns());
  return codes;
}

TrainedModel train_model(TrainingPlan plan, bool replace, const Say& say_anywhere, const RanksPointer& ranks) {
  const Say say = said_once(*ranks, say_anywhere);
  Training& training = plan.training;
  require_same_options(*ranks, [&plan](Fields& field) { plan.visit(field); });
  ranks->together([&] {
    check_training(training);
    // Not one of those checks, which are made before --align finds the links.
    require(!training.alignment_end || !training.alignments.empty(),
            "--alignment-end: there are no links; --alignments names a file of them, --align finds them");
    require_files_for_all(*ranks, training);
  });
  ranks->once([&] { require_free_folder(training.output, replace); });
  const SpooledFiles spooled(all_files(training));
  std::optional<TrainingData> data;
  ranks->together([&] { data.emplace(training); });
  require_same_data(*ranks, *data);
  share_processors(*ranks);
  use_common_kernels(*ranks, say);
  choose_shards(training, *ranks);

  std::optional<Bundle> bundle;
  std::optional<KeptFeatures> kept;
  std::optional<JobTask> task;
  std::optional<FolderLock> lock;
  const auto open_data = [&] {
    kept.emplace(*bundle, training.features, training.output);
    task.emplace(*bundle, training, ranks);
    kept->end_progress();
  };
  ranks->once([&] {
    const System& system = system_named(training.model);
    Codes codes = codes_of(training, system, *plan.config, say);
    bundle = make_bundle(training.declared_job(), system, std::move(plan.config), std::move(codes),
                         static_cast<std::uint64_t>(training.seed));
    give_first_weights(*bundle, training, say);
    // The data are opened before the folder is made: what is wrong with them costs no older model.
    open_data();
    say_what_was_found(*task, say);
    require_free_folder(training.output, replace);  // reading the data may have taken minutes
    create_folder(
        training.output, *bundle,
        {{"training.json", training_text(training, task->example(), Json::object())}, {kDataFile, data->json()}},
        replace, [&lock](const std::filesystem::path& path) { lock.emplace(path); });
    say_how_it_is_locked(*lock, training.output, say);
    say(fmt::format("{} with {} parameters, {}", bundle->system->name, bundle->parameters->count(), sizes_of(*bundle)));
  });
  const ModelFolder folder = folder_of_first(*ranks, training.output);
  ranks->together([&] {
    if (ranks->first()) return;
    bundle = load_bundle(folder, FolderWeights::fresh, static_cast<std::uint64_t>(training.seed));
    open_data();
  });
  share_parameters(*ranks, *bundle);
  return run(folder, *bundle, training, *task, *kept, say, ranks);
}

TrainedModel continue_training(TrainingPlan plan, bool replace, const Say& say) {
  if (!is_model_folder(plan.training.output)) return train_model(std::move(plan), replace, say);
  if (began_like(ModelFolder(plan.training.output), plan)) return resume_training(plan.training, say);
  require(replace, "{}: there is a model that was trained otherwise; --force replaces it", plan.training.output);
  return train_model(std::move(plan), replace, say);
}

Training training_of_folder(const std::filesystem::path& path) {
  const ModelFolder folder(path);
  const std::string file = folder.training().string();
  const Json json = read_training(folder);
  Training training(job_named(folder.job()));
  for (const auto& [name, text] : read_options(json["options"].dump(), file))
    require(set_training_field(training, name, text, file), "{}: there is no option {}", file, name);
  return training;
}

TrainedModel resume_training(const Training& given, const Say& say_anywhere, ChangedData changed,
                             const RanksPointer& ranks) {
  const Say say = said_once(*ranks, say_anywhere);
  Training training = given;
  require_same_options(*ranks, [&training](Fields& field) { training.visit(field); });
  ranks->together([&] {
    check_training(training);
    require_files_for_all(*ranks, training);
  });
  share_processors(*ranks);
  use_common_kernels(*ranks, say);
  choose_shards(training, *ranks);
  std::optional<FolderLock> lock;
  ranks->once([&] {
    lock.emplace(ModelFolder(training.output).path());
    say_how_it_is_locked(*lock, training.output, say);
    ModelFolder(training.output).remove_partial_files();
  });
  const ModelFolder folder = folder_of_first(*ranks, training.output);
  const SpooledFiles spooled(all_files(training));
  std::string data;
  ranks->together([&] { data = checked_data(folder, training, changed, say); });
  std::optional<Bundle> bundle;
  std::optional<KeptFeatures> kept;
  std::optional<JobTask> task;
  const auto open = [&] {
    bundle = load_bundle(folder, FolderWeights::fresh, static_cast<std::uint64_t>(training.seed));
    if (!folder.has_checkpoint()) give_first_weights(*bundle, training, say);  // it was killed before it saved any
    kept.emplace(*bundle, training.features, training.output);
    task.emplace(*bundle, training, ranks);
    kept->end_progress();
    say_what_was_found(*task, say);
  };
  ranks->once(open);  // the others find the features that it keeps
  ranks->together([&] {
    if (!ranks->first()) open();
  });
  ranks->once([&] { folder.save_text(kDataFile, data); });
  return run(folder, *bundle, training, *task, *kept, say, ranks);
}

}  // namespace heed
