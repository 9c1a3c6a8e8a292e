#include "heed/data/corpora/corpus_writer.h"
#include "heed/data/corpora/grammar.h"
#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"

// Translation: a sentence in, its translation out (Sutskever et al. 2014; Bahdanau et al. 2015).

namespace heed {
namespace {

std::string write_grammar(const std::filesystem::path& folder, Index samples, std::uint64_t seed) {
  CorpusWriter writer({.folder = folder, .valid = 0.01, .test = 0.02, .seed = seed, .alignments = true, .force = true});
  for (const GrammarPair& pair : generate_grammar_pairs(samples, seed))
    writer.add(pair.english, pair.french, pair.links);
  return writer.finish().text();
}

JobDemo::Corpus grammar_files(const std::filesystem::path& folder) {
  const auto lines = [&folder](const std::string& part) {
    SampleFiles files;
    files.files = {(folder / (part + ".en")).string(), (folder / (part + ".fr")).string()};
    files.format = "lines";
    return files;
  };
  return {lines("train"), lines("valid"), lines("test"), (folder / "test.align").string()};
}

const RegisterJob translation{{.name = "translation",
                               .verb = "translate",
                               .summary = "Translate lines with a trained model, or several together",
                               .inputs = {{.name = "source", .kind = Kind::text, .help = "source sentences"}},
                               .output = {.name = "target", .kind = Kind::text, .help = "their translations"},
                               .columns = {"source", "target"},
                               .metrics = {bleu_metric(), chrf_metric()},
                               .system = "transformer",
                               .example = {"a small house"},
                               .demo = JobDemo{.write_corpus = write_grammar,
                                               .files = grammar_files,
                                               .options = {{"model", "rnnsearch"},
                                                           {"vocabulary", "words"},
                                                           {"embedding", "64"},
                                                           {"hidden", "128"},
                                                           {"maxout", "64"},
                                                           {"dropout", "0.1"},
                                                           {"label-smoothing", "0"},
                                                           {"batch-words", "512"},
                                                           {"learning-rate", "0.006"},
                                                           {"schedule", "inverse-root"},
                                                           {"warm-up", "100"},
                                                           {"validate-every", "300u"},
                                                           {"shards", "2"}},
                                               .longest = kGrammarLongest + 1,
                                               .noun = "sentences",
                                               .about = "where the model looked for each word that it wrote",
                                               .next = "echo 'the old dog sleeps .' | heed translate {} --draw"},
                               .is_default = true}};

}  // namespace
}  // namespace heed
