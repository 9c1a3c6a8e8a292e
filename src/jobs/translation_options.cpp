#include "heed/jobs/translation_options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "heed/base/spelling.h"

namespace heed {
namespace {

const std::vector<std::string> kSchedules{"constant", "inverse-root", "plateau"};
const std::vector<std::string> kVocabularies{"unigram", "bpe", "words"};
const std::vector<std::string> kMetrics{"bleu", "chrf", "cross-entropy", "perplexity"};

// Options of Marian that name a source and a target at once.
struct PairName {
  const char *name, *source, *target;
};
constexpr PairName kPairNames[] = {{"train-sets", "source", "target"},
                                   {"valid-sets", "valid-source", "valid-target"},
                                   {"vocabs", "source-vocabulary", "target-vocabulary"},
                                   {"dim-vocabs", "vocabulary-size", "vocabulary-size"}};

void require_known(const char* option, const std::string& value, const std::vector<std::string>& known) {
  require(std::find(known.begin(), known.end(), value) != known.end(), "--{}: {} is not known{}", option, value,
          did_you_mean(value, known));
}

// What the models need differently.
void set_defaults(TranslationTraining& training) {
  if (training.model != "convs2s" && training.model != "seq2seq-gru") training.learning_rate = 2e-3;
  if (training.model == "transformer") return;
  training.schedule = "plateau";
  training.beta2 = 0.999;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Marian's options as ours.
std::vector<GivenOption> translated(const std::vector<GivenOption>& given) {
  std::vector<GivenOption> result;
  for (GivenOption option : given) {
    option.name = flag_name(option.name);
    for (const auto& [marian, ours] : marian_names())
      if (option.name == marian) option.name = ours;
    const auto both = std::find_if(std::begin(kPairNames), std::end(kPairNames),
                                   [&](const PairName& pair) { return option.name == pair.name; });
    if (both == std::end(kPairNames)) {
      result.push_back(option);
      continue;
    }
    const std::vector<std::string> words = words_of(option.text);
    require(words.size() == 2, "{}: needs two values, of source and target, not {}", option.who, words.size());
    require(std::string(both->source) != both->target || words[0] == words[1],
            "{}: {} is one for both sides, not {} and {}", option.who, both->source, words[0], words[1]);
    result.push_back({both->source, words[0], option.who});
    result.push_back({both->target, words[1], option.who});
  }
  return result;
}

std::vector<std::string> known_names(const VisitFields& visit) {
  std::vector<std::string> names;
  for (const FieldDescription& field : describe_fields(visit)) names.push_back(flag_name(field.name));
  for (const auto& [marian, ours] : marian_names()) names.push_back(marian);
  for (const PairName& pair : kPairNames) names.emplace_back(pair.name);
  return names;
}

void set_all(const std::vector<GivenOption>& given, const VisitFields& visit, const std::string& of) {
  for (const GivenOption& option : given) {
    if (set_field(visit, option.name, option.text, option.who)) continue;
    throw OptionError(fmt::format("{}: there is no option {}{}{}", option.who, option.name, of,
                                  did_you_mean(option.name, known_names(visit))));
  }
}

void require_files(const char* option, const std::string& list) {
  for (const std::string& file : parse_list(list)) {
    std::error_code ignored;
    require(std::filesystem::exists(file, ignored), "--{}: there is no file {}", option, file);
    require(!std::filesystem::is_directory(file, ignored), "--{}: {} is a directory, not a file", option, file);
  }
}

}  // namespace

void TranslationTraining::visit(Fields& field) {
  field("model", model, "translation system ('heed models' lists them)");
  field("preset", preset, "sizes of the model: small, paper, ...");
  field("output", output, "model folder to make");
  field("source", source, "source sentences, one a line; plain, gz, xz or zst; several files with commas");
  field("target", target, "their translations, line by line");
  field("tsv", tsv, "or one file with source and target between a tab");
  field("valid-source", valid_source, "source sentences for validation");
  field("valid-target", valid_target, "their translations");
  field("alignments", alignments, "word alignments of the training sentences (Pharaoh: i-j ...): guided alignment");
  field("source-vocabulary", source_vocabulary, "vocabulary file (.spm or .txt) instead of a trained one");
  field("target-vocabulary", target_vocabulary, "the same for the target");
  field("vocabulary", vocabulary, "kind of the trained vocabularies: unigram, bpe (subwords) or words");
  field("vocabulary-size", vocabulary_size, "entries of each trained vocabulary");
  field("joint-vocabulary", joint_vocabulary, "one vocabulary for both languages");
  field("batch-words", batch_words, "pieces a side in a batch, padded (0: no limit)");
  field("batch-sentences", batch_sentences, "sentences in a batch (0: no limit)");
  field("longest-sentence", longest_sentence, "pairs with more pieces on a side are left out, and counted");
  field("buffer", buffer, "pairs in memory; a larger corpus is streamed");
  field("optimiser", optimiser, "adam, adamw, sgd, nesterov, adagrad, adadelta or rmsprop");
  field("learning-rate", learning_rate, "of the optimiser; the peak of inverse-root");
  field("schedule", schedule, "constant, inverse-root (after the warm-up), or plateau (less when nothing improves)");
  field("warm-up", warm_up, "updates until the peak of inverse-root");
  field("beta2", beta2, "of Adam");
  field("weight-decay", weight_decay, "of the optimiser");
  field("clip-norm", clip_norm, "largest gradient norm (0: not clipped)");
  field("label-smoothing", label_smoothing, "probability spread over all words");
  field("smoothing", smoothing, "decay of averaged weights, such as 0.999 (0: no average)");
  field("alignment-weight", alignment_weight, "weight of the guided alignment loss");
  field("delay", delay, "batches an update");
  field("validate-every", validate_every, "'500u' updates or '1e' passes over the data");
  field("save-every", save_every, "the same for checkpoints");
  field("show-every", show_every, "updates between lines of the log");
  field("patience", patience, "stop after so many validations without a better one (0: never)");
  field("epochs", epochs, "stop after so many passes over the data (0: no limit)");
  field("steps", steps, "stop after so many updates (0: no limit)");
  field("minutes", minutes, "stop after so many minutes (0: no limit)");
  field("metrics", metrics,
        "what validation computes: bleu, chrf, cross-entropy, perplexity; the first decides what is best");
  field("beam", beam, "width of the beam in validation (1: greedy)");
  field("length-penalty", length_penalty, "of that beam");
  field("seed", seed, "of weights, shuffling and dropout");
  field("threads", threads, "worker threads (0: all); the result does not depend on it");
  field("shards", shards, "pieces a batch is cut into (0: as many as processors); the result depends on it");
}

void TranslationPlan::visit(Fields& field) {
  training.visit(field);
  config->visit(field);
}

const std::vector<std::pair<std::string, std::string>>& marian_names() {
  static const std::vector<std::pair<std::string, std::string>> names{
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

TranslationPlan plan_translation(const std::vector<GivenOption>& given) {
  const std::vector<GivenOption> options = translated(given);
  TranslationPlan plan;
  for (const GivenOption& option : options) {
    if (option.name == "model") plan.training.model = option.text;
    if (option.name == "preset") plan.training.preset = option.text;
  }
  const System& system = system_named(plan.training.model);
  require_known("preset", plan.training.preset, system.presets);
  plan.config = system.config(plan.training.preset);
  set_defaults(plan.training);
  set_all(
      options, [&plan](Fields& field) { plan.visit(field); }, " for " + system.name);
  return plan;
}

void change_training(TranslationTraining& training, const std::vector<GivenOption>& given) {
  const std::string model = training.model, preset = training.preset;
  set_all(
      translated(given), [&training](Fields& field) { training.visit(field); }, " that can change when resuming");
  require(training.model == model && training.preset == preset,
          "--resume: this is a {} of preset {}, which cannot change; train into another folder", model, preset);
}

void check_training(const TranslationTraining& t) {
  require(!t.output.empty(), "--output: say where the model goes");
  require(t.tsv.empty() || (t.source.empty() && t.target.empty()),
          "--tsv: it takes the place of --source and --target");
  require(!t.tsv.empty() || !t.source.empty(), "--source: say which sentences to train on (or give --tsv)");
  require(t.source.empty() == t.target.empty(), "--{}: it is missing; --source and --target belong together",
          t.source.empty() ? "source" : "target");
  require(parse_list(t.source).size() == parse_list(t.target).size(), "--target: {} files for {} files of --source",
          parse_list(t.target).size(), parse_list(t.source).size());
  require(t.valid_source.empty() == t.valid_target.empty(),
          "--valid-{}: it is missing; --valid-source and --valid-target belong together",
          t.valid_source.empty() ? "source" : "target");
  require_files("source", t.source);
  require_files("target", t.target);
  require_files("tsv", t.tsv);
  require_files("valid-source", t.valid_source);
  require_files("valid-target", t.valid_target);
  require_files("alignments", t.alignments);
  require_files("source-vocabulary", t.source_vocabulary);
  require_files("target-vocabulary", t.target_vocabulary);
  require(!t.joint_vocabulary || t.source_vocabulary == t.target_vocabulary,
          "--joint-vocabulary: the vocabularies {} and {} are two", t.source_vocabulary, t.target_vocabulary);
  require_known("schedule", t.schedule, kSchedules);
  require_known("vocabulary", t.vocabulary, kVocabularies);
  require(!parse_list(t.metrics).empty(), "--metrics: at least one is needed");
  for (const std::string& metric : parse_list(t.metrics)) require_known("metrics", metric, kMetrics);
  require(t.batch_words > 0 || t.batch_sentences > 0,
          "--batch-words: a batch needs a limit, here or in "
          "--batch-sentences");
  require(t.label_smoothing >= 0 && t.label_smoothing < 1, "--label-smoothing: it must be in [0, 1), not {}",
          t.label_smoothing);
  require(t.seed >= 0 && t.threads >= 0 && t.shards >= 0 && t.patience >= 0 && t.epochs >= 0 && t.steps >= 0,
          "--seed, --threads, --shards, --patience, --epochs and --steps cannot be negative");
  require(t.beam >= 1, "--beam: it must be at least 1, not {}", t.beam);
  const bool validates = !t.valid_source.empty();
  require(t.epochs > 0 || t.steps > 0 || t.minutes > 0 || (validates && t.patience > 0),
          "--epochs: nothing ends this training; set a limit, or validation sentences and --patience");
  parse_every(t.validate_every, "--validate-every");
  parse_every(t.save_every, "--save-every");
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
