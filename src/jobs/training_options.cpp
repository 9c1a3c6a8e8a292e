#include "heed/jobs/training_options.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "heed/base/spelling.h"
#include "heed/data/sample_files.h"
#include "heed/jobs/given_model.h"

namespace heed {
namespace {

// Defaults where a dictionary turns texts into phonemes.
const std::vector<std::pair<std::string, std::string>> kOfPhonemes{{"vocabulary", "words"},
                                                                   {"metrics", "per,cross-entropy"}};

// Zeiler 2012: the step has its own scale, and a rate of less than 1 stops it.
const std::vector<std::pair<std::string, std::string>> kOfAdadelta{{"learning-rate", "1"}, {"schedule", "constant"}};

// Options of Marian that name all sides at once: the option of each side is its name between these two.
struct AllSidesName {
  const char *name, *before, *after;
};
constexpr AllSidesName kAllSidesNames[] = {
    {"train-sets", "", ""}, {"valid-sets", "valid-", ""}, {"vocabs", "", "-vocabulary"}};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string side_names(const Job& job) {
  std::vector<std::string> names;
  for (const JobSide* side : job.sides()) names.push_back(side->name);
  return fmt::format("{}", fmt::join(names, " and "));
}

// Options by other names as ours.
std::vector<GivenOption> renamed(const std::vector<GivenOption>& given, const Job& job) {
  std::vector<GivenOption> result;
  for (GivenOption option : given) {
    option.name = flag_name(option.name);
    for (const auto& [other, ours] : other_names())
      if (option.name == other) option.name = ours;
    const auto all = std::find_if(std::begin(kAllSidesNames), std::end(kAllSidesNames),
                                  [&](const AllSidesName& each) { return option.name == each.name; });
    if (all == std::end(kAllSidesNames) && option.name != "dim-vocabs") {
      result.push_back(option);
      continue;
    }
    const std::vector<const JobSide*> sides = job.sides();
    const std::vector<std::string> words = words_of(option.text);
    require(words.size() == sides.size(), "{}: needs {} values, one for each of {}, not {}", option.who, sides.size(),
            side_names(job), words.size());
    if (all == std::end(kAllSidesNames)) {
      require(std::count(words.begin(), words.end(), words[0]) == static_cast<std::ptrdiff_t>(words.size()),
              "{}: vocabulary-size is one for all sides, not {}", option.who, fmt::join(words, " and "));
      result.push_back({"vocabulary-size", words[0], option.who});
      continue;
    }
    for (std::size_t i = 0; i < sides.size(); ++i)
      result.push_back({all->before + sides[i]->name + all->after, words[i], option.who});
  }
  return result;
}

std::vector<std::string> known_names(const VisitFields& visit) {
  std::vector<std::string> names;
  for (const FieldDescription& field : describe_fields(visit)) names.push_back(flag_name(field.name));
  for (const auto& [other, ours] : other_names()) names.push_back(other);
  for (const AllSidesName& each : kAllSidesNames) names.emplace_back(each.name);
  return names;
}

void set_all(const std::vector<GivenOption>& given, const VisitFields& visit, const std::string& of) {
  for (const GivenOption& option : given) {
    if (set_field(visit, option.name, option.text, option.who)) continue;
    throw OptionError(fmt::format("{}: there is no option {}{}{}", option.who, option.name, of,
                                  did_you_mean(option.name, known_names(visit))));
  }
}

void set_defaults(Training& training, const std::vector<std::pair<std::string, std::string>>& defaults,
                  const std::string& of) {
  for (const auto& [name, value] : defaults)
    require(set_training_field(training, name, value, of), "[{}] there is no option {} of training", of, name);
}

// The configuration of the model to begin with. What else was said about it must be true, and what was not is filled
// in.
std::unique_ptr<Config> begin_with(const std::string& from, std::string& model, std::string& job, std::string& preset) {
  FirstModel first = first_model(from);
  const auto agree = [&from](const char* option, std::string& asked, const std::string& found) {
    require(asked.empty() || asked == found, "--{}: {} is asked for, but the model of --from {} has {}", option, asked,
            from, found);
    asked = found;
  };
  agree("job", job, first.job);
  agree("model", model, first.model);
  agree("preset", preset, first.preset);
  return std::move(first.config);
}

}  // namespace

Training::Training(const Job& declared) : job(declared.name), model(declared.system) {
  for (const JobSide* side : declared.sides())
    sides.push_back({.side = side, .files = {}, .valid = {}, .vocabulary = {}});
  std::vector<std::string> names;
  for (const Metric& metric : declared.metrics)
    if (names.empty()) names.push_back(metric.name);
  names.emplace_back("cross-entropy");
  metrics = fmt::format("{}", fmt::join(names, ","));
}

void Training::visit(Fields& field) {
  const Job& declared = declared_job();
  field("job", job, "what the model is for ('heed models' lists the jobs); the model says it unless several use it");
  field("model", model, "system to train ('heed models' lists them)");
  field("preset", preset, "sizes of the model: small, paper, ...");
  field("from", from,
        "folder of a trained model to begin with: its weights, vocabularies, labels and sizes, not its training");
  field("output", output, "model folder to make");
  field("data", data,
        "training samples: a table (TSV, CSV, JSON lines), or one file of lines per column, separated by commas");
  field("valid", valid, "validation samples, in files of the same kind");
  field("format", format,
        fmt::format("format of --data and --valid: {} (default: seen from the file)",
                    fmt::join(sample_format_names(), ", "))
            .c_str());
  field("columns", columns,
        "names of their columns in order, separated by commas (default: the header's, or the job's)");
  if (std::any_of(sides.begin(), sides.end(), [](const Side& side) { return side.side->kind == Kind::image; }))
    field("images", images,
          "folders or tars (packed or not) of the images that the files name, separated by commas (default: the files' "
          "folder)");
  for (Side& side : sides)
    field(side.side->name.c_str(), side.files,
          fmt::format("file of {}, one per line, instead of --data; several files are separated by commas",
                      side.side->help)
              .c_str());
  for (Side& side : sides)
    field(("valid-" + side.side->name).c_str(), side.valid,
          fmt::format("file of {} for validation, instead of --valid", side.side->help).c_str());
  field("alignments", alignments,
        "word alignments of the training samples (Pharaoh: i-j ...), which guide the attention");
  field("allow-bad-lines", allow_bad_lines,
        "go on with files of unequal length, or of which more than 5 % of the lines cannot be used");
  field(
      "digest", digest,
      "how the files are known again when the training goes on: sampled (of those beyond 64 MiB, 1024 blocks) or full");
  field("languages", languages,
        "codes of the languages that are read and written, such as en-de; servers and pages show them");
  for (Side& side : sides)
    if (is_text(side.side->kind))
      field((side.side->name + "-vocabulary").c_str(), side.vocabulary,
            "vocabulary file (.spm or .txt) instead of a learnt one");
  field("vocabulary", vocabulary,
        "kind of the learnt vocabularies: unigram, bpe (subwords), words (between blanks), tokens (lower case, "
        "punctuation apart) or letters");
  field("vocabulary-size", vocabulary_size, "entries of each learnt vocabulary");
  field("joint-vocabulary", joint_vocabulary, "one vocabulary for all texts");
  field("vectors", vectors, "file of word vectors to begin with (GloVe or word2vec; text or binary; packed or not)");
  field("vectors-words", vectors_words,
        "words with a vector: seen (those of the vocabulary) or all (those of the file too)");
  const auto reads = [this](Kind kind) {
    return std::any_of(sides.begin(), sides.end(), [kind](const Side& side) { return side.side->kind == kind; });
  };
  if (reads(Kind::sound)) {
    field("dictionary", dictionary,
          "pronunciation dictionary (lines of a word and its phonemes, as CMU's): what is written is phonemes");
    field("kept-features", features,
          "file that keeps the features of sounds for other trainings too (else they go when this one ends)");
  }
  if (reads(Kind::image)) {
    field("encoder-weights", encoder, "safetensors file with the weights of a ready-made encoder of images");
    field("features", features,
          "file that keeps the features of pictures for other trainings too (else they go when this one ends)");
  }
  field("batch-words", batch_words, "most pieces per side of a batch, with padding (0: no limit)");
  field("batch-sentences", batch_samples, "most samples in a batch (0: no limit)");
  field("longest-sentence", longest,
        declared.chooses() ? "longest text in pieces; longer ones are cut and counted"
                           : "longest text in pieces; samples with a longer one are left out and counted");
  field("cut-texts", cut_texts,
        declared.chooses() ? "nothing more: longer texts are always cut and counted"
                           : "longer inputs are cut and counted, instead of left out; outputs never are");
  field("buffer", buffer, "most samples held in memory; a larger corpus is streamed");
  field("optimiser", optimiser, "adam, adamw, sgd, nesterov, adagrad, adadelta or rmsprop");
  field("learning-rate", learning_rate, "learning rate; with inverse-root, its peak (default with adadelta: 1)");
  field("schedule", schedule,
        "learning rate over time: constant, inverse-root (after the warm-up) or plateau (less when nothing improves)");
  field("warm-up", warm_up, "updates until inverse-root reaches its peak");
  field("beta2", beta2, "decay rate of Adam's second moments");
  field("weight-decay", weight_decay, "weight decay of the optimiser");
  field("lazy", lazy, "only vectors of words in the batch are updated, and their state with them");
  field("clip-norm", clip_norm, "largest gradient norm (0: not clipped)");
  field("max-norm", max_norm, "largest norm of each unit's incoming weights (0: any)");
  field("weight-noise", weight_noise, "deviation of the noise on the weights while gradients are computed (0: none)");
  field("label-smoothing", label_smoothing, "probability spread over all words or labels");
  field("smoothing", smoothing, "decay of averaged weights, such as 0.999 (0: no average)");
  field("alignment-weight", alignment_weight, "weight of the guided alignment loss");
  field("alignment-end", alignment_end,
        "words without a link are guided to the end of the sentence, and so learn to have none");
  if (!declared.chooses()) {
    field("reward", reward,
          "metrics, separated by commas, that score texts which the model draws; it learns from them in place of the "
          "references' words (begin with a trained model: --from)");
    field("draws", draws, "texts that are drawn for each sample with --reward");
  }
  field("delay", delay, "batches per update");
  field("validate-every", validate_every, "how often to validate: every '500u' updates or '1e' passes over the data");
  field("save-every", save_every, "how often to save a checkpoint: every '500u' updates or '1e' passes over the data");
  field("show-every", show_every, "updates between lines of the log");
  field("patience", patience, "stop after this many validations without a better one (0: never)");
  field("epochs", epochs, "stop after this many passes over the data (0: no limit)");
  field("steps", steps, "stop after this many updates (0: no limit)");
  field("minutes", minutes, "stop after this many minutes (0: no limit)");
  field("metrics", metrics, "metrics of validation, separated by commas; the first decides which model is best");
  field("beam", beam, "width of the beam in validation (1: greedy)");
  field("length-penalty", length_penalty, "length penalty of the beam in validation");
  field("seed", seed, "seed of weights, shuffling and dropout");
  field("threads", threads, "worker threads (0: all); the result does not depend on it");
  field("shards", shards, "parts that a batch is cut into (0: one per processor); the result depends on it");
  field("wire", wire, "under mpirun or srun, how gradients travel: full, or bf16 (half the bytes, rounded)");
  field("rank-timeout", rank_timeout, "seconds after which ranks that give no answer end the training (0: never)");
}

std::vector<Training::FilesOfOption> Training::files() const {
  std::vector<FilesOfOption> all{{"data", parse_list(data)}, {"valid", parse_list(valid)}};
  for (const Side& side : sides) {
    all.push_back({side.side->name, parse_list(side.files)});
    all.push_back({"valid-" + side.side->name, parse_list(side.valid)});
    all.push_back({side.side->name + "-vocabulary", parse_list(side.vocabulary)});
  }
  all.push_back({"alignments", parse_list(alignments)});
  all.push_back({"dictionary", parse_list(dictionary)});
  all.push_back({"vectors", parse_list(vectors)});
  all.push_back({"encoder-weights", parse_list(encoder)});
  return all;
}

bool Training::validates() const { return !valid.empty() || !sides.front().valid.empty(); }

namespace {

// Sets of files, one for each column of the job: a.en a.de b.en b.de.
SampleFiles files_of(const Training& training, const std::string& tables, std::string Training::Side::*lines) {
  SampleFiles files;
  files.allow_bad_lines = training.allow_bad_lines;
  files.dictionary = training.dictionary;
  if (!tables.empty()) {
    files.files = parse_list(tables);
    files.format = training.format;
    files.columns = parse_list(training.columns);
    files.roots = parse_list(training.images);
    return files;
  }
  files.format = "lines";
  const std::size_t sets = parse_list(training.sides.front().*lines).size();
  for (std::size_t set = 0; set < sets; ++set)
    for (const std::string& column : training.declared_job().columns)
      for (const Training::Side& side : training.sides)
        if (side.side->name == column) files.files.push_back(parse_list(side.*lines)[set]);
  return files;
}

}  // namespace

SampleFiles Training::training_files() const {
  SampleFiles files = files_of(*this, data, &Side::files);
  files.alignments = parse_list(alignments);
  return files;
}

SampleFiles Training::validation_files() const { return files_of(*this, valid, &Side::valid); }

std::vector<std::string> Training::metric_names() const { return parse_list(metrics); }

void TrainingPlan::visit(Fields& field) {
  training.visit(field);
  config->visit(field);
}

const std::vector<std::pair<std::string, std::string>>& other_names() {
  static const std::vector<std::pair<std::string, std::string>> names{
      {"tsv", "data"},
      {"batch-samples", "batch-sentences"},
      {"tied-embeddings-all", "joint-vocabulary"},
      {"mini-batch", "batch-sentences"},
      {"mini-batch-words", "batch-words"},
      {"max-length", "longest-sentence"},
      {"after-epochs", "epochs"},
      {"after-batches", "steps"},
      {"valid-freq", "validate-every"},
      {"save-freq", "save-every"},
      {"disp-freq", "show-every"},
      {"early-stopping", "patience"},
      {"valid-metrics", "metrics"},
      {"learn-rate", "learning-rate"},
      {"lr-warmup", "warm-up"},
      {"optimizer", "optimiser"},
      {"optimizer-delay", "delay"},
      {"exponential-smoothing", "smoothing"},
      {"cpu-threads", "threads"},
      {"guided-alignment", "alignments"},
      {"guided-alignment-weight", "alignment-weight"},
      {"beam-size", "beam"},
      {"normalize", "length-penalty"},
  };
  return names;
}

std::vector<FieldDescription> describe_training() {
  std::vector<FieldDescription> all;
  std::vector<const Job*> by_default{&default_job()};  // first: its defaults are those that are shown
  for (const Job& job : jobs()) by_default.push_back(&job);
  for (const Job* job : by_default) {
    Training training(*job);
    for (FieldDescription& field : describe_fields([&](Fields& fields) { training.visit(fields); })) {
      const bool known =
          std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.name == field.name; });
      if (!known) all.push_back(std::move(field));
    }
  }
  return all;
}

bool set_training_field(Training& training, const std::string& name, const std::string& text, const std::string& who) {
  std::string ours = flag_name(name);
  for (const auto& [other, own] : other_names())
    if (ours == other) ours = own;
  return set_field([&training](Fields& field) { training.visit(field); }, ours, text, who);
}

TrainingPlan plan_training(const std::vector<GivenOption>& given) {
  const auto last = [&given](const char* name) {
    std::string text;
    for (const GivenOption& option : given)
      if (flag_name(option.name) == name) text = option.text;
    return text;
  };
  std::string model = last("model"), asked = last("job"), preset = last("preset");
  std::unique_ptr<Config> first;
  if (const std::string from = last("from"); !from.empty()) first = begin_with(from, model, asked, preset);
  const Job& job = job_named(asked.empty() && !model.empty() ? system_named(model).job : asked);
  TrainingPlan plan{Training(job), nullptr};
  Training& training = plan.training;
  if (!model.empty()) training.model = model;
  if (!preset.empty()) training.preset = preset;
  const System& system = system_named(training.model);
  std::vector<std::string> fitting;
  for (const System* each : systems_of(job)) fitting.push_back(each->name);
  require(std::find(fitting.begin(), fitting.end(), system.name) != fitting.end(),
          "--model: {} does not read and give what {} needs; these do: {}", system.name, job.name,
          fmt::join(fitting, ", "));
  require_known_value("preset", training.preset, system.presets);
  plan.config = first ? std::move(first) : system.config(training.preset);
  set_defaults(training, job.training, job.name);
  set_defaults(training, system.training, system.name);
  if (last("optimiser") == "adadelta" || last("optimizer") == "adadelta")
    set_defaults(training, kOfAdadelta, "adadelta");
  if (!last("dictionary").empty()) set_defaults(training, kOfPhonemes, "dictionary");
  set_all(
      renamed(given, job), [&plan](Fields& field) { plan.visit(field); }, " for " + system.name);
  training.job = job.name;  // the options of an empty --job are those of the default
  if (last("vocabulary").empty() && training.vocabulary == "tokens" && !training.data.empty() &&
      have_cut_words(training.training_files(), job.sample_columns()))
    training.vocabulary = "words";
  return plan;
}

void change_training(Training& training, const std::vector<GivenOption>& given) {
  const std::string model = training.model, preset = training.preset, job = training.job;
  const std::unique_ptr<Config> config = system_named(model).config(preset);
  const std::vector<GivenOption> options = renamed(given, training.declared_job());
  for (const GivenOption& option : options)
    for (const FieldDescription& field : describe_fields([&](Fields& fields) { config->visit(fields); }))
      if (field.name == option.name)
        throw OptionError(
            fmt::format("{}: it is an option of the model, which cannot change when resuming; train into "
                        "another folder",
                        option.who));
  const auto visit = [&](Fields& field) {
    training.visit(field);
    config->visit(field);  // for the spelling of its names alone
  };
  set_all(options, visit, " for " + model);
  require(training.model == model && training.preset == preset && training.job == job,
          "--resume: the model is {} with preset {} for {}, which cannot change; train into another folder", model,
          preset, job);
}

Every parse_every(const std::string& text, const std::string& who) {
  Index count = -1;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  const std::string unit(stopped, end);
  require(error == std::errc() && count >= 0 && (unit.empty() || unit == "u" || unit == "e"),
          "{}: expected a number of updates (500u) or of epochs (1e), not '{}'", who, text);
  return unit == "e" ? Every{.steps = 0, .epochs = count} : Every{.steps = count, .epochs = 0};
}

std::vector<std::string> parse_list(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');)
    if (!item.empty()) items.push_back(item);
  return items;
}

}  // namespace heed
