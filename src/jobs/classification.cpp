#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"

// Classification: a document in, a label out (Yang et al. 2016; Lin et al. 2017).

namespace heed {
namespace {

const RegisterJob classification{{.name = "classification",
                                  .verb = "classify",
                                  .summary = "Give each document one of the labels that a model was trained on",
                                  .inputs = {{.name = "document", .kind = Kind::document, .help = "documents"}},
                                  .output = {.name = "label", .kind = Kind::label, .help = "their labels"},
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
                                  .report = label_report}};

}  // namespace
}  // namespace heed
