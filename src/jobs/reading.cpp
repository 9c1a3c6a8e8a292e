#include <map>
#include <set>

#include "heed/data/corpora/stories.h"
#include "heed/data/text_file.h"
#include "heed/jobs/job_metrics.h"
#include "heed/jobs/labelled_demo.h"

// Reading: a document and a question with a blank in, the word that fills the blank out (Kadlec et al. 2016; Cui et al.
// 2017). The word is one of the document's, or one of given choices.

namespace heed {
namespace {

std::string write_stories(const std::filesystem::path& folder, Index samples, std::uint64_t seed) {
  return write_labelled_demo(folder, {"document", "question"}, generate_stories(samples, seed), seed, "stories");
}

JobDemo::Corpus story_files(const std::filesystem::path& folder) {
  return labelled_demo_files(folder, "test.gold.jsonl");
}

// The answer of somebody who only counts: of the choices the one that the document has most often, the first of
// several. Where no choices are given they are the document's words that are an answer somewhere.
std::string most_frequent(const Sample& sample, const std::set<std::string, std::less<>>& answers) {
  std::map<std::string_view, Index> counts;
  for (const std::string& choice : sample.choices) counts[choice] = 0;
  std::string_view best;
  Index most = -1;
  for (const std::string_view word : words_of_line(sample.inputs.front().text)) {
    if (sample.choices.empty() ? !answers.contains(word) : !counts.contains(word)) continue;
    ++counts[word];
  }
  for (const auto& [word, count] : counts)
    if (count > most) best = word, most = count;
  return std::string(best);
}

std::string baseline_report(std::span<const std::string>, std::span<const Sample> samples) {
  std::set<std::string, std::less<>> answers;
  for (const Sample& sample : samples) answers.insert(sample.outputs.front());
  std::vector<std::string> counted;
  for (const Sample& sample : samples) counted.push_back(most_frequent(sample, answers));
  return fmt::format("most frequent candidate: accuracy {:.2f}\n", accuracy_metric().measure(counted, samples));
}

const RegisterJob reading{
    {.name = "reading",
     .verb = "answer",
     .summary = "Find the word that fills the blank of a question about a document",
     .inputs = {{.name = "document",
                 .kind = Kind::document,
                 .help = "documents",
                 .also = {"context", "article", "passage", "story"}},
                {.name = "question",
                 .kind = Kind::text,
                 .help = "questions with one blank each: XXXXX, @placeholder or _",
                 .also = {"query"},
                 .blank = true}},
     .output = {.name = "answer", .kind = Kind::choice, .help = "their answers", .also = {"word"}},
     .columns = {"answer", "document", "question"},
     .metrics = {accuracy_metric()},
     .system = "aoa",
     .example = {"linda took the lamp to the barn . oswen left the kite in the tower .",
                 "you should look for the lamp in the XXXXX ."},
     .training = {{"vocabulary", "tokens"},
                  {"vocabulary-size", "30000"},
                  {"joint-vocabulary", "true"},
                  {"longest-sentence", "600"},
                  {"batch-words", "0"},
                  {"batch-samples", "32"},
                  {"schedule", "plateau"},
                  {"learning-rate", "0.001"},
                  {"clip-norm", "5"},
                  {"label-smoothing", "0"},
                  {"lazy", "true"},
                  {"patience", "3"}},
     .demo = JobDemo{.write_corpus = write_stories,
                     .files = story_files,
                     .samples = 20'000,
                     .steps = 5000,
                     .options = {{"embedding", "48"},
                                 {"hidden", "48"},
                                 {"schedule", "constant"},
                                 {"learning-rate", "0.003"},
                                 {"patience", "0"},  // for a thousand steps it knows what is asked for, but not which
                                 {"validate-every", "500u"},
                                 {"shards", "2"}},
                     .noun = "stories",
                     .about = "where in the story the model found the answer",
                     .next = "printf 'linda took the lamp to the barn . oswen left the kite in the tower .\\tyou "
                             "should look for the lamp in the XXXXX .\\n' | heed answer {}",
                     .report = true},
     .report = baseline_report}};

}  // namespace
}  // namespace heed
