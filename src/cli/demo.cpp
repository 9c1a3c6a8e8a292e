#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/threads.h"
#include "heed/base/file.h"
#include "heed/cli/attention_flags.h"
#include "heed/cli/commands.h"
#include "heed/cli/training_flags.h"
#include "heed/data/corpora/corpus_writer.h"
#include "heed/data/corpora/grammar.h"
#include "heed/explain/terminal.h"
#include "heed/metrics/tokens.h"
#include "heed/models/decoder_parts.h"
#include "heed/jobs/translation_test_set.h"
#include "heed/jobs/translation_training.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  AttentionChoice attention;
  fs::path output = "heed-demo";
  Index pairs = 20'000, steps = 1500, seed = 1;
  int threads = 0;
};

// demo.json says which corpus the folder holds, or, while one is written, none. It is also what tells a demo's folder,
// in which files may be replaced, from any other.
void make_corpus(const DemoOptions& options) {
  const fs::path mark = options.output / "demo.json";
  const std::string wanted = fmt::format("{{\"pairs\": {}, \"seed\": {}}}\n", options.pairs, options.seed);
  const bool ours = fs::exists(mark);
  require(ours || !fs::exists(options.output) || (fs::is_directory(options.output) && fs::is_empty(options.output)),
          "{}: it is there, and no demo made it; choose another folder with --output", options.output.string());
  if (ours && read_file(mark) == wanted) return;
  fs::create_directories(options.output);
  write_file(mark, "{}\n");
  CorpusWriter writer({.folder = options.output,
                       .valid = 0.01,
                       .test = 0.02,
                       .seed = static_cast<std::uint64_t>(options.seed),
                       .alignments = true,
                       .force = true});
  for (const GrammarPair& pair : generate_grammar_pairs(options.pairs, static_cast<std::uint64_t>(options.seed)))
    writer.add(pair.english, pair.french, pair.links);
  fmt::print("{}\n", writer.finish().text());
  write_file(mark, wanted);
}

TranslationPlan make_plan(const DemoOptions& options) {
  const auto file = [&options](const char* name) { return (options.output / name).string(); };
  std::vector<GivenOption> given{{"model", "rnnsearch", "demo"},
                                 {"source", file("train.en"), "demo"},
                                 {"target", file("train.fr"), "demo"},
                                 {"valid-source", file("valid.en"), "demo"},
                                 {"valid-target", file("valid.fr"), "demo"},
                                 {"output", file("model"), "--output"},
                                 {"vocabulary", "words", "demo"},
                                 {"embedding", "64", "demo"},
                                 {"hidden", "128", "demo"},
                                 {"maxout", "64", "demo"},
                                 {"dropout", "0.1", "demo"},
                                 {"label-smoothing", "0", "demo"},
                                 {"batch-words", "512", "demo"},
                                 {"learning-rate", "0.006", "demo"},
                                 {"schedule", "inverse-root", "demo"},
                                 {"warm-up", "100", "demo"},
                                 {"validate-every", "300u", "demo"},
                                 {"shards", "2", "demo"},
                                 {"steps", fmt::format("{}", options.steps), "--steps"},
                                 {"seed", fmt::format("{}", options.seed), "--seed"},
                                 {"threads", fmt::format("{}", options.threads), "--threads"}};
  AttentionOptions attention = options.attention.options();
  attention.longest = kGrammarLongest + 1;  // with the end
  for (const FieldDescription& field : describe_fields([&](Fields& f) { visit_attention(attention, f); }))
    given.push_back({field.name, field.value, "--attention"});
  return plan_translation(given);
}

void draw(const TranslationTestSet& test, std::size_t number, const Translation& translation) {
  const std::string& right = test.references[number];
  fmt::print("\n{}\n→ {}{}\n", test.sources[number], translation.text,
             translation.text == right ? "" : fmt::format("\n  (should be: {})", right));
  if (const auto& alignment = translation.alignment)
    fmt::print("{}", draw_matrix(alignment->target, alignment->source, alignment->weights, terminal_colour()));
}

void run(const DemoOptions& options) {
  require(options.steps > 0, "--steps: at least 1 is needed, not {}", options.steps);
  limit_threads(options.threads);
  TranslationPlan plan = make_plan(options);
  fmt::print("A recurrent encoder-decoder with {} attention learns to translate.\n", options.attention.text());
  make_corpus(options);
  std::fflush(stdout);  // what follows goes to the standard error
  const TrainedTranslation trained = continue_translation(std::move(plan), true, say);
  if (trained.result.end == LoopEnd::signal) throw Exit{128 + trained.result.signal};

  const auto file = [&options](const char* name) { return (options.output / name).string(); };
  const TranslationTestSet test = read_test_set(file("test.en"), file("test.fr"), file("test.align"));
  Translator translator({trained.folder}, {.threads = options.threads}, say);
  const TranslationQuality quality = measure_translation(translator, test);
  fmt::print("\n{} unseen sentences: BLEU {:.1f}, chrF {:.1f}", test.sources.size(), quality.bleu, quality.chrf);
  if (quality.alignment) fmt::print(", alignment error rate {:.3f}", quality.alignment->error_rate());
  fmt::print("\nFive of them, and where the model looked for each word that it wrote:\n");
  Index drawn = 0;
  for (std::size_t i = 0; i < test.sources.size() && drawn < 5; ++i) {
    const std::size_t words = split_words(test.sources[i]).size();
    if (words < 7 || words > 12) continue;  // worth looking at, and narrow enough for a terminal
    draw(test, i, quality.translations[i]);
    ++drawn;
  }
  fmt::print("\nThe model is in {0}. Try:\n  echo 'the old dog sleeps .' | heed translate --model {0} --draw\n",
             trained.folder.string());
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "demo", "Train a small translation model on generated sentences and show where it looks (a minute or two)");
  const auto options = std::make_shared<DemoOptions>();
  add_attention_flags(*command, options->attention);
  command
      ->add_option("--output,-o", options->output, "Folder for the corpus and the model; what is there is used again")
      ->capture_default_str();
  command->add_option("--pairs", options->pairs, "Sentences of the corpus")->capture_default_str();
  command->add_option("--steps", options->steps, "Training steps")->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of corpus and weights")->capture_default_str();
  command->add_option("--threads", options->threads, "Worker threads (0: all)")->capture_default_str();
  command->footer(
      "Examples:\n  heed demo\n  heed demo --attention luong-general --output general\n"
      "  heed demo --normaliser sparsemax --output sparse");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
