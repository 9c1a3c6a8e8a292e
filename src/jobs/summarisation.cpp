#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"

// Summarisation: a text in, a shorter one out (Rush, Chopra, Weston 2015).

namespace heed {
namespace {

const RegisterJob summarisation{
    {.name = "summarisation",
     .verb = "summarise",
     .spellings = {"summarize"},
     .summary = "Write a short text for a long one, line by line",
     .inputs = {{.name = "text", .kind = Kind::text, .help = "texts"}},
     .output = {.name = "summary", .kind = Kind::text, .help = "their summaries"},
     .columns = {"text", "summary"},
     // ROUGE sees a-z and digits alone; chrF tells summaries in other scripts apart.
     .metrics = {text_metric("rougeL"), text_metric("rouge1"), text_metric("rouge2"), chrf_metric()},
     .system = "rnnsearch",
     .example = {"a library of routines that read and write pictures in many formats"},
     .training = {{"joint-vocabulary", "true"}, {"longest-sentence", "400"}},
     .report = copy_report}};

}  // namespace
}  // namespace heed
