#include "heed/data/corpora/corpus_writer.h"
#include "heed/data/corpora/headlines.h"
#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"
#include "heed/jobs/summary_report.h"

// Summarisation: a text in, a shorter one out (Rush, Chopra, Weston 2015).

namespace heed {
namespace {

std::string write_headlines(const std::filesystem::path& folder, Index samples, std::uint64_t seed) {
  CorpusWriter writer({.folder = folder,
                       .source = "text",
                       .target = "summary",
                       .valid = 0.02,
                       .test = 0.03,
                       .seed = seed,
                       .alignments = true,
                       .force = true});
  for (const HeadlinePair& pair : generate_headlines(samples, seed)) writer.add(pair.text, pair.headline, pair.links);
  return writer.finish().text();
}

JobDemo::Corpus headline_files(const std::filesystem::path& folder) {
  const auto lines = [&folder](const std::string& part) {
    SampleFiles files;
    files.files = {(folder / (part + ".text")).string(), (folder / (part + ".summary")).string()};
    files.format = "lines";
    return files;
  };
  return {lines("train"), lines("valid"), lines("test"), (folder / "test.align").string()};
}

const RegisterJob summarisation{
    {.name = "summarisation",
     .verb = "summarise",
     .spellings = {"summarize"},
     .summary = "Write a short text for a long one, line by line",
     .inputs = {{.name = "text",
                 .kind = Kind::text,
                 .help = "texts",
                 .also = {"document", "article", "description", "body"}}},
     .output = {.name = "summary",
                .kind = Kind::text,
                .help = "their summaries",
                .also = {"headline", "title", "highlights", "synopsis", "subject"}},
     .columns = {"text", "summary"},
     // ROUGE sees a-z and digits alone; chrF tells summaries in other scripts apart.
     .metrics = {text_metric("rougeL"), text_metric("rouge1"), text_metric("rouge2"), chrf_metric()},
     .system = "rnnsearch",
     .example = {"a library of routines that read and write pictures in many formats"},
     .training =
         {{"joint-vocabulary", "true"}, {"longest-sentence", "400"}, {"cut-texts", "true"}, {"label-smoothing", "0"}},
     .demo = JobDemo{.write_corpus = write_headlines,
                     .files = headline_files,
                     .samples = 8000,
                     .steps = 1200,
                     // The vocabulary has the words of the grammar and few names: the others can only be copied.
                     .options = {{"model", "rnnsearch"},
                                 {"copy", "true"},
                                 {"vocabulary", "words"},
                                 {"vocabulary-size", "150"},
                                 {"embedding", "48"},
                                 {"hidden", "64"},
                                 {"maxout", "48"},
                                 {"dropout", "0"},
                                 {"batch-words", "512"},
                                 {"learning-rate", "0.008"},
                                 {"schedule", "inverse-root"},
                                 {"warm-up", "50"},
                                 {"validate-every", "300u"},
                                 {"shards", "2"}},
                     .longest = 60,
                     .most_words = 32,
                     .noun = "texts",
                     .about = "where the model looked for each word (< marks those that it copied)",
                     .next = "heed explain {} 'on monday the baker Zanquelo bought a small mill in Ostibaford .'",
                     .report = true},
     .report = summary_report}};

}  // namespace
}  // namespace heed
