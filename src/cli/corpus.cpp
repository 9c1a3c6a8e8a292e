#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/progress.h"
#include "heed/cli/commands.h"
#include "heed/data/corpora/cloze.h"
#include "heed/data/corpora/corpus_writer.h"
#include "heed/data/corpora/debian.h"
#include "heed/data/corpora/gettext.h"
#include "heed/data/corpora/grammar.h"
#include "heed/data/corpora/headlines.h"
#include "heed/data/corpora/inference.h"
#include "heed/data/corpora/labelled_corpus.h"
#include "heed/data/corpora/reviews.h"
#include "heed/data/corpora/scenes.h"
#include "heed/data/corpora/speech_corpus.h"
#include "heed/data/corpora/speech_programs.h"
#include "heed/data/corpora/stories.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

struct CorpusCommand {
  CorpusOptions corpus;
  std::string language = "fr";
  Index pairs = 20'000;  // or documents
  std::vector<std::string> paths, english;
};

// The options that every kind of corpus has.
void add_common(CLI::App& command, const std::shared_ptr<CorpusCommand>& options) {
  CorpusOptions& corpus = options->corpus;
  command.add_option("folder", corpus.folder, "Where train, valid and test are written")->required();
  command.add_option("--valid", corpus.valid, "Share for validation")->capture_default_str();
  command.add_option("--test", corpus.test, "Share for testing")->capture_default_str();
  command.add_option("--seed", corpus.seed, "Decides what goes into which part, and what a generated corpus says")
      ->capture_default_str();
  command.add_flag("--force", corpus.force, "Replace existing files");
}

void report(const CorpusCommand& options, const CorpusCounts& counts) {
  fmt::print("{}\n", counts.text());
  const std::string stem = (options.corpus.folder / "train").string();
  fmt::print("Written to {0}.{1}, {0}.{2}{3}, and valid and test beside them\n", stem, options.corpus.source,
             options.corpus.target, options.corpus.alignments ? fmt::format(", {}.align", stem) : "");
}

void make_grammar(CorpusCommand& options) {
  options.corpus.alignments = true;
  CorpusWriter writer(options.corpus);
  for (const GrammarPair& pair : generate_grammar_pairs(options.pairs, options.corpus.seed))
    writer.add(pair.english, pair.french, pair.links);
  report(options, writer.finish());
}

void make_headlines(CorpusCommand& options) {
  options.corpus.source = "text", options.corpus.target = "summary", options.corpus.alignments = true;
  CorpusWriter writer(options.corpus);
  for (const HeadlinePair& pair : generate_headlines(options.pairs, options.corpus.seed))
    writer.add(pair.text, pair.headline, pair.links);
  report(options, writer.finish());
}

void add_cloze(CLI::App& corpus) {
  const auto options = std::make_shared<ClozeOptions>();
  CLI::App* const command =
      corpus.add_subcommand("cloze", "Questions made of any text: some sentences, and the next with a word taken out");
  command->add_option("folder", options->folder, "Where train.jsonl, valid.jsonl and test.jsonl are written")
      ->required();
  command->add_option("files", options->files, "Texts, one per line, plain or packed")->required();
  command->add_option("--words", options->words, "What is taken out: names, nouns or any")->capture_default_str();
  command
      ->add_option("--cut", options->cut,
                   "How texts are cut into words: tokens, or blanks, of texts that are cut already, as Chinese must be")
      ->capture_default_str();
  command->add_option("--sentences", options->sentences, "Sentences before the question")->capture_default_str();
  command
      ->add_option("--step", options->step,
                   "Sentences from one question's first to the next one's (0: no sentence is used twice)")
      ->capture_default_str();
  command
      ->add_option("--candidates", options->candidates,
                   "Words to choose from, the answer among them (0: all of the document)")
      ->capture_default_str();
  command->add_flag("--with-question", options->with_question,
                    "The document ends with the question and its blank, as the Chinese sets have them");
  command->add_option("--valid", options->valid, "Share of the texts for validation")->capture_default_str();
  command->add_option("--test", options->test, "Share of the texts for testing")->capture_default_str();
  command->add_option("--seed", options->seed, "Decides what is asked, and what goes into which part")
      ->capture_default_str();
  command->add_flag("--force", options->force, "Replace existing files");
  command->footer(
      "Lines are JSON objects with document, question, answer and choices, as heed train reads them.\n\n"
      "Examples:\n"
      "  heed corpus cloze data/questions book.txt.xz\n"
      "  heed corpus cloze data/names articles.txt --words names --sentences 10 --step 2\n"
      "  heed corpus cloze data/chinese cut-by-jieba.txt --cut blanks --candidates 0 --with-question");
  command->callback([options] {
    const ClozeCounts counts = write_cloze(*options);
    fmt::print("{} texts, {} of them too short\n{} questions to train on, {} for validation, {} to test\n",
               counts.texts, counts.short_texts, counts.train, counts.valid, counts.test);
    fmt::print("Written to {0}, and valid and test beside it\n", (options->folder / "train.jsonl").string());
  });
}

// Samples with labels and what decides them.
void write_labelled(const CorpusCommand& options, std::vector<std::string> columns,
                    const std::vector<GoldExample>& examples) {
  const CorpusOptions& corpus = options.corpus;
  const LabelledCorpusCounts counts = write_labelled_corpus({.folder = corpus.folder,
                                                             .columns = std::move(columns),
                                                             .valid = corpus.valid,
                                                             .test = corpus.test,
                                                             .seed = corpus.seed,
                                                             .force = corpus.force},
                                                            examples);
  fmt::print("{} samples for training, {} for validation, {} for the test\nWritten to {}, valid.tsv and test.tsv; {}\n",
             counts.train, counts.valid, counts.test, (corpus.folder / "train.tsv").string(),
             "test.gold.jsonl says what decides");
}

void make_scenes(const CorpusCommand& options) {
  const CorpusOptions& corpus = options.corpus;
  const ScenesCounts counts = write_scenes({.folder = corpus.folder,
                                            .scenes = options.pairs,
                                            .valid = corpus.valid,
                                            .test = corpus.test,
                                            .seed = corpus.seed,
                                            .force = corpus.force});
  fmt::print("{} scenes for training, {} for validation, {} for the test\nWritten to {}, valid.tsv and test.tsv; {}\n",
             counts.train, counts.valid, counts.test, (corpus.folder / "train.tsv").string(),
             "test.boxes.jsonl says where the things are");
}

struct SpeechCommand : CorpusCommand {
  SpeechCorpusOptions speech;
};

void make_speech(SpeechCommand& options) {
  SpeechCorpusOptions& speech = options.speech;
  speech.folder = options.corpus.folder, speech.seed = options.corpus.seed, speech.force = options.corpus.force;
  speech.valid = options.corpus.valid, speech.test = options.corpus.test;
  SpeechCorpusCounts counts;
  {
    Progress progress({"Speaking", speech.utterances, "utterances"});
    speech.progress = [&progress] { progress.advance(); };
    counts = write_speech_corpus(speech);
  }
  fmt::print("{} utterances for training, {} for validation, {} for the test; {:.1f} minutes of sound\n", counts.train,
             counts.valid, counts.test, counts.seconds / 60);
  fmt::print("Written to {0}.tsv (words) and {0}.phonemes.tsv, and valid and test beside them{1}\n",
             (speech.folder / "train").string(), counts.timed ? "; .ctm files say when each was said" : "");
}

// Speech of our own synthesiser or of a program.
void add_speech(CLI::App& command) {
  const auto options = std::make_shared<SpeechCommand>();
  SpeechCorpusOptions& speech = options->speech;
  options->corpus.valid = speech.valid, options->corpus.test = speech.test;
  CLI::App* const speech_command =
      command.add_subcommand("speech", "Spoken words with their phonemes and the exact times of both; needs no files");
  add_common(*speech_command, options);
  speech_command->add_option("--utterances", speech.utterances, "Number of utterances in all parts together")
      ->capture_default_str();
  speech_command
      ->add_option("--engine", speech.engine,
                   fmt::format("Who speaks: own (a synthesiser in this program), or a program that is installed: {}",
                               fmt::join(speech_programs(), ", ")))
      ->capture_default_str();
  speech_command->add_option("--speakers", speech.voices, "Voices of own; one in five speaks in the test alone")
      ->capture_default_str();
  speech_command->add_option("--shortest", speech.shortest, "Words of own in the shortest utterance")
      ->capture_default_str();
  speech_command->add_option("--longest", speech.longest, "Words of own in the longest utterance")
      ->capture_default_str();
  speech_command->add_option("--text", speech.text,
                             "Sentences for a program, one per line (default: those of heed corpus grammar)");
  speech_command
      ->add_option("--voices", speech.training_voices,
                   "A program's voices for training and validation, such as slt,rms (default: usual ones)")
      ->delimiter(',');
  speech_command->add_option("--test-voices", speech.test_voices, "A program's voices for the test")->delimiter(',');
  speech_command->footer(
      "Lines are path<TAB>words, and path<TAB>phonemes in train.phonemes.tsv, valid.phonemes.tsv and\n"
      "test.phonemes.tsv. CTM files beside them hold the gold times: of words and phonemes of own, of phonemes\n"
      "of flite, of none of espeak-ng.\n\n"
      "Examples:\n"
      "  heed corpus speech data/speech\n"
      "  heed corpus speech data/flite --engine flite --utterances 5000 --text sentences.txt\n"
      "  heed corpus speech data/espeak --engine espeak-ng --voices en-us,en-gb --test-voices en-us+f3");
  speech_command->callback([options] { make_speech(*options); });
}

void make_gettext(CorpusCommand& options) {
  if (options.paths.empty()) options.paths = {"/usr/share/locale"};
  options.corpus.target = options.language;
  const std::vector<fs::path> catalogs = find_catalogs(options.paths, options.language);
  require(!catalogs.empty(), "[gettext] there is no catalogue for \"{}\" in {}", options.language,
          fmt::join(options.paths, ", "));
  CorpusWriter writer(options.corpus);
  Index damaged = 0;
  {
    Progress progress({"Reading catalogues", static_cast<Index>(catalogs.size()), "files"});
    for (const fs::path& catalog : catalogs) {
      try {
        for (const CatalogMessage& message : read_catalog(catalog))
          for (const auto& [source, target] : pairs_of(message)) writer.add(source, target);
      } catch (const Error& error) {
        progress.note(fmt::format("left out: {}", error.what()));
        ++damaged;
      }
      progress.advance();
    }
  }
  fmt::print("{} catalogues read, {} damaged ones left out\n", static_cast<Index>(catalogs.size()) - damaged, damaged);
  report(options, writer.finish());
}

// What apt keeps of the last update.
std::vector<std::string> lists_of_apt(const std::string& part) {
  std::vector<std::string> found;
  std::error_code reason;
  for (const fs::directory_entry& entry : fs::directory_iterator("/var/lib/apt/lists", reason)) {
    const std::string name = entry.path().filename().string();
    const std::size_t at = name.rfind(part);
    // "Translation-de" is not "Translation-de_AT"; what may follow is the ending of a packed file.
    if (at != std::string::npos && (at + part.size() == name.size() || name[at + part.size()] == '.'))
      found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void make_debian(CorpusCommand& options) {
  if (options.paths.empty()) options.paths = lists_of_apt("i18n_Translation-" + options.language);
  if (options.english.empty()) {
    options.english = lists_of_apt("i18n_Translation-en");
    const std::vector<std::string> packages = lists_of_apt("_Packages");
    options.english.insert(options.english.end(), packages.begin(), packages.end());
  }
  require(!options.paths.empty() && !options.english.empty(),
          "[debian] apt has no descriptions in {0}; fetch them:\n"
          "  apt-get -o Acquire::Languages=en,{0} update\n"
          "or name files: --english Translation-en.xz --translation Translation-{0}.xz",
          options.language);
  options.corpus.target = options.language;
  CorpusWriter writer(options.corpus);
  DebianDescriptions descriptions;
  {
    Progress progress(
        {"Reading descriptions", static_cast<Index>(options.english.size() + options.paths.size()), "files"});
    for (const std::string& file : options.english) {
      descriptions.read_english(file);
      progress.advance();
    }
    for (const std::string& file : options.paths) {
      descriptions.read_translations(file, options.language, [&](std::string_view source, std::string_view target) {
        writer.add(source, target);
      });
      progress.advance();
    }
  }
  const DebianDescriptions::Counts& counts = descriptions.counts();
  fmt::print("{} English descriptions, {} translated; {} of these without the English, {} with other paragraphs\n",
             counts.english, counts.translated, counts.without_english, counts.other_segments);
  report(options, writer.finish());
}

}  // namespace

void add_corpus(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("corpus", "Make a corpus: train, valid and test files");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  heed corpus grammar data/grammar\n"
      "  heed corpus headlines data/headlines\n"
      "  heed corpus reviews data/reviews\n"
      "  heed corpus inference data/inference\n"
      "  heed corpus scenes data/scenes\n"
      "  heed corpus speech data/speech\n"
      "  heed corpus gettext data/de --language de\n"
      "  heed corpus debian data/debian --language fr\n"
      "More about one:  heed corpus grammar --help");

  const auto grammar = std::make_shared<CorpusCommand>();
  CLI::App* const grammar_command = command->add_subcommand(
      "grammar", "English sentences made by a grammar, their French, and which words belong together; needs no files");
  add_common(*grammar_command, grammar);
  grammar_command->add_option("--pairs", grammar->pairs, "Number of different sentences in all parts together")
      ->capture_default_str();
  grammar_command->footer(
      "train.align, valid.align and test.align hold the gold alignments in Pharaoh's format.\n\n"
      "Examples:\n"
      "  heed corpus grammar data/grammar\n"
      "  heed corpus grammar data/large --pairs 200000 --valid 0.005 --test 0.005 --seed 7");
  grammar_command->callback([grammar] { make_grammar(*grammar); });

  const auto headlines = std::make_shared<CorpusCommand>();
  CLI::App* const headlines_command = command->add_subcommand(
      "headlines", "News of a few sentences with headlines, and which words these come from; needs no files");
  add_common(*headlines_command, headlines);
  headlines_command->add_option("--texts", headlines->pairs, "Number of different texts in all parts together")
      ->capture_default_str();
  headlines_command->footer(
      "train.text and train.summary are files of lines; train.align has the gold words in Pharaoh's format, those\n"
      "of the text first. People and places have names that no vocabulary holds, so that they must be copied.\n\n"
      "Examples:\n"
      "  heed corpus headlines data/headlines\n"
      "  heed corpus headlines data/large --texts 100000 --seed 7");
  headlines_command->callback([headlines] { make_headlines(*headlines); });

  const auto scenes = std::make_shared<CorpusCommand>();
  scenes->pairs = ScenesOptions().scenes;
  CLI::App* const scenes_command = command->add_subcommand(
      "scenes", "Drawn pictures with captions, and the box of every thing that they name; needs no files");
  add_common(*scenes_command, scenes);
  scenes_command->add_option("--scenes", scenes->pairs, "Number of pictures in all parts together")
      ->capture_default_str();
  scenes_command->footer(
      "Lines are image<TAB>caption, the captions of an image one below the other. test.boxes.jsonl has a line\n"
      "for each image of test.tsv: the nouns of its first caption, counted from 0, with left, top, right and\n"
      "bottom of the thing as fractions of the picture.\n\n"
      "Examples:\n"
      "  heed corpus scenes data/scenes\n"
      "  heed corpus scenes data/large --scenes 20000 --seed 7");
  scenes_command->callback([scenes] { make_scenes(*scenes); });

  const auto reviews = std::make_shared<CorpusCommand>();
  CLI::App* const reviews_command = command->add_subcommand(
      "reviews", "Reviews with a label, and which sentence and words decide it; needs no files");
  add_common(*reviews_command, reviews);
  reviews_command->add_option("--documents", reviews->pairs, "Number of different documents in all parts together")
      ->capture_default_str();
  reviews_command->footer(
      "Lines are label<TAB>document, with the labels good, bad and open. test.gold.jsonl has ERASER's lines,\n"
      "one for each line of test.tsv; tokens are the words between spaces.\n\n"
      "Examples:\n"
      "  heed corpus reviews data/reviews\n"
      "  heed corpus reviews data/large --documents 100000 --seed 7");
  reviews_command->callback(
      [reviews] { write_labelled(*reviews, {"document"}, generate_reviews(reviews->pairs, reviews->corpus.seed)); });

  const auto inference = std::make_shared<CorpusCommand>();
  CLI::App* const inference_command = command->add_subcommand(
      "inference", "Premises and hypotheses with a label, and which words decide it; needs no files");
  add_common(*inference_command, inference);
  inference_command->add_option("--pairs", inference->pairs, "Number of different pairs in all parts together")
      ->capture_default_str();
  inference_command->footer(
      "Lines are label<TAB>premise<TAB>hypothesis, with the labels entailment, neutral and contradiction.\n"
      "Line by line with test.tsv: test.links has the words that belong together in Pharaoh's format, premise\n"
      "first; test.gold.jsonl has the words that decide as ERASER's lines.\n\n"
      "Examples:\n"
      "  heed corpus inference data/inference\n"
      "  heed corpus inference data/large --pairs 100000 --seed 7");
  inference_command->callback([inference] {
    write_labelled(*inference, {"premise", "hypothesis"},
                   generate_inference_pairs(inference->pairs, inference->corpus.seed));
  });

  const auto stories = std::make_shared<CorpusCommand>();
  CLI::App* const stories_command = command->add_subcommand(
      "stories", "Stories with a question and its answer, and which sentence has it; needs no files");
  add_common(*stories_command, stories);
  stories_command->add_option("--documents", stories->pairs, "Number of different stories in all parts together")
      ->capture_default_str();
  stories_command->footer(
      "Lines are answer<TAB>document<TAB>question; the blank of a question is XXXXX. test.gold.jsonl has the\n"
      "sentence with the answer as ERASER's lines, one for each line of test.tsv.\n\n"
      "Example:\n"
      "  heed corpus stories data/stories");
  stories_command->callback([stories] {
    write_labelled(*stories, {"document", "question"}, generate_stories(stories->pairs, stories->corpus.seed));
  });

  add_cloze(*command);
  add_speech(*command);

  const auto gettext = std::make_shared<CorpusCommand>();
  gettext->language = "de";
  CLI::App* const gettext_command =
      command->add_subcommand("gettext", "Messages of programs with their translations, from .mo and .po catalogues");
  add_common(*gettext_command, gettext);
  gettext_command->add_option("--language", gettext->language, "Language of the translations, such as de or pt_BR")
      ->capture_default_str();
  gettext_command->add_option("--from", gettext->paths, "Catalogues, or folders of them (default: /usr/share/locale)");
  gettext_command->footer(
      "Examples:\n"
      "  heed corpus gettext data/de --language de\n"
      "  heed corpus gettext data/po --language fr --from project/po\n"
      "  apt-get install libreoffice-l10n-de\n"
      "  heed corpus gettext data/office --language de --from /usr/lib/libreoffice");
  gettext_command->callback([gettext] { make_gettext(*gettext); });

  const auto debian = std::make_shared<CorpusCommand>();
  debian->language = "de";
  CLI::App* const debian_command =
      command->add_subcommand("debian", "Descriptions of Debian's packages with their translations");
  add_common(*debian_command, debian);
  debian_command->add_option("--language", debian->language, "Language of the translations")->capture_default_str();
  debian_command->add_option("--translation", debian->paths, "Translation-xx files (default: those that apt has)");
  debian_command->add_option("--english", debian->english,
                             "Translation-en and Packages files (default: those that apt has)");
  debian_command->footer(
      "Files may be plain or packed with gzip, xz, zstd or lz4.\n\n"
      "Examples:\n"
      "  apt-get -o Acquire::Languages=en,de update\n"
      "  heed corpus debian data/debian --language de\n"
      "  heed corpus debian data/debian --english Translation-en.xz --translation Translation-de");
  debian_command->callback([debian] { make_debian(*debian); });
}

}  // namespace heed::cli
