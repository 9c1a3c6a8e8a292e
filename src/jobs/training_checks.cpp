#include <algorithm>
#include <filesystem>

#include "heed/base/spelling.h"
#include "heed/jobs/training_options.h"

namespace heed {
namespace {

const std::vector<std::string> kSchedules{"constant", "inverse-root", "plateau"};
const std::vector<std::string> kVocabularies{"unigram", "bpe", "words", "tokens", "letters"};
const std::vector<std::string> kLosses{"cross-entropy", "perplexity"};  // of every job

std::string flag_list(const Training& training, const char* before) {
  std::vector<std::string> names;
  for (const Training::Side& side : training.sides) names.push_back(fmt::format("--{}{}", before, side.side->name));
  return fmt::format("{}", fmt::join(names, " and "));
}

void require_files(const Training::FilesOfOption& given) {
  const std::string& option = given.option;
  for (const std::string& file : given.files) {
    if (file == "-") continue;
    std::error_code ignored;
    // What follows a # says which part of a file is meant (data/caption_files.cpp).
    require(std::filesystem::exists(file, ignored) || std::filesystem::exists(file.substr(0, file.rfind('#')), ignored),
            "--{}: there is no file {}", option, file);
    const bool samples = option == "data" || option == "valid";  // some formats of them are folders
    require(samples || !std::filesystem::is_directory(file, ignored), "--{}: {} is a directory, not a file", option,
            file);
  }
}

// Files of lines, one for each side: all of them or none, and as many of each.
void check_sides(const Training& training, const char* before, std::string Training::Side::*files) {
  const Training::Side& first = training.sides.front();
  for (const Training::Side& side : training.sides) {
    const bool one = (first.*files).empty();
    require((side.*files).empty() == one, "--{}{}: it is missing; {} belong together", before,
            (one ? first : side).side->name, flag_list(training, before));
    require(parse_list(side.*files).size() == parse_list(first.*files).size(),
            "--{}{}: {} files for {} files of --{}{}", before, side.side->name, parse_list(side.*files).size(),
            parse_list(first.*files).size(), before, first.side->name);
  }
}

}  // namespace

void require_known_value(const std::string& option, const std::string& value, const std::vector<std::string>& known) {
  require(std::find(known.begin(), known.end(), value) != known.end(), "--{}: {} is not known{}", option, value,
          did_you_mean(value, known));
}

void check_training(const Training& t) {
  const Job& job = t.declared_job();
  require(!t.output.empty(), "--output: say where the model goes");
  const Training::Side& first = t.sides.front();
  const bool lines = std::any_of(t.sides.begin(), t.sides.end(), [](const auto& side) { return !side.files.empty(); });
  const bool valid_lines =
      std::any_of(t.sides.begin(), t.sides.end(), [](const auto& side) { return !side.valid.empty(); });
  require(t.data.empty() || !lines, "--data: it takes the place of {}", flag_list(t, ""));
  require(!t.data.empty() || lines, "--{}: say what to train on (or give --data)", first.side->name);
  require(t.valid.empty() || !valid_lines, "--valid: it takes the place of {}", flag_list(t, "valid-"));
  check_sides(t, "", &Training::Side::files);
  check_sides(t, "valid-", &Training::Side::valid);
  for (const Training::FilesOfOption& each : t.files()) require_files(each);
  if (!t.from.empty())
    for (const Training::FilesOfOption& each : t.files())
      require(each.files.empty() || !(each.option == "vectors" || each.option == "encoder-weights" ||
                                      each.option.ends_with("-vocabulary")),
              "--{}: the model of --from brings its own", each.option);
  require_known_value("digest", t.digest, {"sampled", "full"});
  require_known_value("wire", t.wire, {"full", "bf16"});
  require(t.rank_timeout >= 0, "--rank-timeout: {} is not a number of seconds", t.rank_timeout);
  require_known_value("vectors-words", t.vectors_words, {"seen", "all"});
  require(t.vectors.empty() || t.vocabulary == "words" || t.vocabulary == "tokens",
          "--vectors: they are of words, but the vocabulary is of subwords; choose --vocabulary tokens (or words)");
  require(t.dictionary.empty() || t.vocabulary == "words",
          "--dictionary: phonemes have blanks between them, so the vocabulary is words, not {}", t.vocabulary);
  std::vector<std::string> vocabularies;
  for (const Training::Side& side : t.sides) {
    if (is_text(side.side->kind)) vocabularies.push_back(side.vocabulary);
  }
  for (const std::string& vocabulary : vocabularies)
    require(!t.joint_vocabulary || vocabulary == vocabularies.front(),
            "--joint-vocabulary: the vocabularies {} and {} are two", vocabularies.front(), vocabulary);
  require(t.label_smoothing == 0 || !job.gives_choice(), "--label-smoothing: choices differ from sample to sample");
  require(t.alignments.empty() || !job.chooses(), "--alignments: a label has no words to align");
  require(t.alignments.empty() || !t.cut_texts, "--cut-texts: a text that is cut has no words for its alignments");
  require_known_value("schedule", t.schedule, kSchedules);
  require_known_value("vocabulary", t.vocabulary, kVocabularies);
  require(!t.metric_names().empty(), "--metrics: at least one is needed");
  std::vector<std::string> metrics;
  for (const Metric& metric : job.metrics) metrics.push_back(metric.name);
  for (const std::string& reward : parse_list(t.reward)) require_known_value("reward", reward, metrics);
  metrics.insert(metrics.begin(), kLosses.begin(), kLosses.end());
  for (const std::string& metric : t.metric_names()) require_known_value("metrics", metric, metrics);
  require(t.draws >= 2, "--draws: a text is compared with others, so at least 2 are drawn, not {}", t.draws);
  require(t.reward.empty() || t.alignments.empty(),
          "--reward: texts that are drawn have no alignments to be guided by");
  require(t.batch_words > 0 || t.batch_samples > 0,
          "--batch-words: a batch needs a limit, here or in --batch-sentences");
  require(t.label_smoothing >= 0 && t.label_smoothing < 1, "--label-smoothing: it must be in [0, 1), not {}",
          t.label_smoothing);
  require(t.seed >= 0 && t.threads >= 0 && t.shards >= 0 && t.patience >= 0 && t.epochs >= 0 && t.steps >= 0,
          "--seed, --threads, --shards, --patience, --epochs and --steps cannot be negative");
  require(t.beam >= 1, "--beam: it must be at least 1, not {}", t.beam);
  require(t.epochs > 0 || t.steps > 0 || t.minutes > 0 || (t.validates() && t.patience > 0),
          "--epochs: nothing ends this training; set a limit, or validation samples and --patience");
  parse_every(t.validate_every, "--validate-every");
  parse_every(t.save_every, "--save-every");
}

}  // namespace heed
