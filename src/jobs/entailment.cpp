#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"

// Entailment: a premise and a hypothesis in, whether one follows from the other out (Rocktäschel et al. 2016).

namespace heed {
namespace {

const RegisterJob entailment{{.name = "entailment",
                              .verb = "entail",
                              .summary = "Say whether a hypothesis follows from a premise",
                              .inputs = {{.name = "premise", .kind = Kind::text, .help = "premises"},
                                         {.name = "hypothesis", .kind = Kind::text, .help = "hypotheses"}},
                              .output = {.name = "label", .kind = Kind::label, .help = "their labels"},
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
                              .report = label_report}};

}  // namespace
}  // namespace heed
