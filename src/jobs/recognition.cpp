#include "heed/data/corpora/speech_corpus.h"
#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"
#include "heed/metrics/error_rate.h"

// Recognition: a sound in, what was said out, as letters, phonemes or pieces (Chorowski et al. 2015).

namespace heed {
namespace {

// The worst of the samples as sclite prints them, and what all of them are made of.
std::string error_report(std::span<const std::string> outputs, std::span<const Sample> samples) {
  constexpr std::size_t kShown = 5;
  struct Aligned {
    std::vector<AlignedPair> pairs;
    ErrorCounts counts;
    std::size_t sample;
  };
  std::vector<Aligned> all;
  ErrorCounts sum;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<std::string> reference = error_units(samples[i].outputs.front(), ErrorUnit::words);
    std::vector<AlignedPair> pairs = align_errors(reference, error_units(outputs[i], ErrorUnit::words));
    const ErrorCounts counts = error_counts(pairs);
    sum += counts;
    all.push_back({std::move(pairs), counts, i});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Aligned& a, const Aligned& b) { return a.counts.errors() > b.counts.errors(); });
  std::string text = fmt::format("words: {} right, {} replaced, {} left out, {} put in; the most errors:\n", sum.hits,
                                 sum.substitutions, sum.deletions, sum.insertions);
  for (std::size_t i = 0; i < std::min(kShown, all.size()) && all[i].counts.errors() > 0; ++i)
    text += fmt::format("{}\n{}", samples[all[i].sample].inputs.front().text, written_alignment(all[i].pairs));
  return text;
}

std::string write_speech_demo(const std::filesystem::path& folder, Index utterances, std::uint64_t seed) {
  SpeechCorpusOptions options;
  options.folder = folder, options.utterances = utterances, options.seed = seed, options.force = true;
  const SpeechCorpusCounts counts = write_speech_corpus(options);
  return fmt::format("{} utterances of made-up voices in {}, {:.0f} minutes; other voices speak in the test",
                     counts.train + counts.valid + counts.test, folder.string(), counts.seconds / 60);
}

JobDemo::Corpus speech_demo_files(const std::filesystem::path& folder) {
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const auto files = [&](const char* name) { return SampleFiles{.files = {file(name)}}; };
  return {files("train.tsv"), files("valid.tsv"), files("test.tsv"), file("test.ctm")};
}

const RegisterJob recognition{
    {.name = "recognition",
     .verb = "transcribe",
     .summary = "Write what is said in sounds, with the time of each word",
     .inputs = {{.name = "sound", .kind = Kind::sound, .help = "sounds", .also = {"audio", "audio_filepath", "path"}}},
     .output = {.name = "text", .kind = Kind::text, .help = "what is said in them"},
     .columns = {"sound", "text"},
     .metrics = {text_metric("cer"), text_metric("wer"), text_metric("per")},
     .system = "listener",
     .training = {{"vocabulary", "letters"},
                  {"longest-sentence", "3000"},
                  {"batch-words", "20000"},
                  {"batch-sentences", "16"},
                  {"label-smoothing", "0.1"}},
     .demo = JobDemo{.write_corpus = write_speech_demo,
                     .files = speech_demo_files,
                     .samples = 1500,
                     .steps = 800,
                     .options = {{"hidden", "96"}, {"ctc-weight", "0.5"}, {"validate-every", "150u"}},
                     .noun = "utterances",
                     .about = "where the model listened for each word that it wrote",
                     .next = "heed transcribe {} my.wav --output srt"},
     .report = error_report}};

}  // namespace
}  // namespace heed
