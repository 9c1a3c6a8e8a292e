#include "heed/data/corpora/inference.h"
#include "heed/jobs/job_metrics.h"
#include "heed/jobs/labelled_demo.h"

// Entailment: a premise and a hypothesis in, whether one follows from the other out (Rocktäschel et al. 2016).

namespace heed {
namespace {

std::string write_pairs(const std::filesystem::path& folder, Index samples, std::uint64_t seed) {
  return write_labelled_demo(folder, {"premise", "hypothesis"}, generate_inference_pairs(samples, seed), seed, "pairs");
}

JobDemo::Corpus pair_files(const std::filesystem::path& folder) { return labelled_demo_files(folder, "test.links"); }

const RegisterJob entailment{
    {.name = "entailment",
     .verb = "entail",
     .summary = "Say whether a hypothesis follows from a premise",
     .inputs =
         {{.name = "premise", .kind = Kind::text, .help = "premises", .also = {"sentence1", "sentence_A", "text"}},
          {.name = "hypothesis", .kind = Kind::text, .help = "hypotheses", .also = {"sentence2", "sentence_B"}}},
     .output = {.name = "label",
                .kind = Kind::label,
                .help = "their labels",
                .also = {"gold_label", "entailment_label", "class"},
                .unlabelled = "-"},
     .columns = {"label", "premise", "hypothesis"},
     .metrics = {accuracy_metric(), macro_f1_metric()},
     .system = "rocktaschel",
     .example = {"A man plays a guitar on a stage .", "Somebody makes music ."},
     .training = {{"vocabulary", "tokens"},
                  {"vocabulary-size", "30000"},
                  {"joint-vocabulary", "true"},
                  {"longest-sentence", "100"},
                  {"batch-words", "0"},
                  {"batch-samples", "32"},
                  {"schedule", "plateau"},
                  {"learning-rate", "0.001"},
                  {"label-smoothing", "0"},
                  {"lazy", "true"},
                  {"patience", "5"}},
     .demo = JobDemo{.write_corpus = write_pairs,
                     .files = pair_files,
                     .samples = 20'000,
                     .steps = 6000,
                     .options = {{"reading", "match"},  // its label comes from nowhere but where it looked
                                 {"memory", "words"},
                                 {"two-way", "true"},
                                 {"embedding", "48"},
                                 {"hidden", "64"},
                                 {"learning-rate", "0.004"},
                                 {"validate-every", "400u"},
                                 {"shards", "2"}},
                     .noun = "pairs",
                     .about = "where the model looked for each word of the hypothesis",
                     .next = "printf 'a dog sleeps .\\tan animal sleeps .\\n' | heed entail {}"},
     .report = label_report}};

}  // namespace
}  // namespace heed
