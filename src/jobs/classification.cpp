#include "heed/data/corpora/reviews.h"
#include "heed/jobs/job_metrics.h"
#include "heed/jobs/labelled_demo.h"

// Classification: a document in, a label out (Yang et al. 2016; Lin et al. 2017).

namespace heed {
namespace {

std::string write_reviews(const std::filesystem::path& folder, Index samples, std::uint64_t seed) {
  return write_labelled_demo(folder, {"document"}, generate_reviews(samples, seed), seed, "reviews");
}

JobDemo::Corpus review_files(const std::filesystem::path& folder) {
  return labelled_demo_files(folder, "test.gold.jsonl");
}

const RegisterJob classification{
    {.name = "classification",
     .verb = "classify",
     .summary = "Give each document one of the labels that a model was trained on",
     .inputs = {{.name = "document",
                 .kind = Kind::document,
                 .help = "documents",
                 .also = {"text", "review", "body", "content"}}},
     .output =
         {.name = "label", .kind = Kind::label, .help = "their labels", .also = {"class", "category", "sentiment"}},
     .columns = {"label", "document"},
     .metrics = {accuracy_metric(), macro_f1_metric()},
     .system = "han",
     .example = {"The food was cold . I would not go there again ."},
     .training = {{"vocabulary", "tokens"},
                  {"vocabulary-size", "30000"},
                  {"longest-sentence", "400"},
                  {"batch-words", "0"},
                  {"batch-samples", "64"},
                  {"schedule", "plateau"},
                  {"learning-rate", "0.001"},
                  {"label-smoothing", "0"},
                  {"lazy", "true"},
                  {"patience", "3"}},
     .demo = JobDemo{.write_corpus = write_reviews,
                     .files = review_files,
                     .samples = 6000,
                     .steps = 1600,
                     .options = {{"embedding", "32"},
                                 {"hidden", "24"},
                                 {"batch-samples", "32"},
                                 {"learning-rate", "0.005"},
                                 {"validate-every", "400u"},
                                 {"shards", "2"}},
                     .noun = "reviews",
                     .about = "which sentences and words decided",
                     .next = "heed explain {} 'we went there in may . it was never dull .'"},
     .report = label_report}};

}  // namespace
}  // namespace heed
