#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/thread_pool.h"
#include "heed/jobs/batched_search.h"
#include "heed/jobs/bundle.h"
#include "heed/trace/trace.h"
#include "heed/trace/unit_times.h"
#include "heed/trace/word_alignment.h"

namespace heed {

// What becomes of a text with more pieces than are allowed. Images and sounds are limited by those who take them in.
enum class TooLong { cut, refuse };  // cut: with a warning

struct InputLimits {
  Index longest = 0;  // 0: 500, or as long as texts of the model's training might be if that is more
  TooLong too_long = TooLong::cut;
};

// One answer for one sample: words, a label or a choice.
struct Result {
  std::string text = {};
  double log_probability = 0;                   // of the words and the end, or of the label
  double score = 0;                             // with the search's penalties; of a label or choice its probability
  bool finished = true;                         // false: cut off because it became too long
  std::optional<WordAlignment> alignment = {};  // of words from a text by a model with attention
  Index begin = -1, end = -1;  // of a choice: the characters of the first input where it stands first; -1: nowhere
  std::optional<UnitTimes> times = {};  // of words from a sound by a model with attention
};

struct SampleScore {
  double log_probability = 0;
  Index words = 0;  // pieces, with the end; 1 for a label or a choice
};

// A token as it is written, before the output is finished.
struct WrittenToken {
  Index sample = 0, step = 0;          // numbers of the sample and of the token, from 0
  TraceToken token = {};               // its place is that in `text`
  std::string text = {};               // the output so far
  double log_probability = 0;          // of the token
  std::span<const Real> weights = {};  // over the input; empty without attention. Gone after the call
};

// How long an output of words may be; 0: there is no such limit.
struct OutputLimits {
  Index least_words = 0, most_words = 0, most_bytes = 0;

  bool any() const { return least_words > 0 || most_words > 0 || most_bytes > 0; }
};

struct RunOptions {
  BatchedSearch search = {};  // of words; `search.options.best` answers for each sample, of labels too
  InputLimits limits = {};
  OutputLimits outputs = {};
  bool rerank = true;                      // choices anew, where the model has what it takes (jobs/reranking.h)
  std::vector<std::string> prefixes = {};  // that the outputs begin with, one for each sample; or none
  std::function<void()> on_step = {};      // called again and again while it works; what it throws ends the work
  std::function<void(const WrittenToken&)> on_token = {};  // called as tokens come; greedy search only
};

struct ExplainOptions {
  RunOptions run = {.search = {}, .limits = {.longest = 1000, .too_long = TooLong::refuse}};
  bool attentions = false;                                 // those of the model, not only its alignment
  std::vector<std::string> attention_names = {};           // which of them; none: all
  Index most_weights = std::numeric_limits<Index>::max();  // of the attentions of a trace; more is an Error
  bool beam = false;                                       // the hypotheses that were alive
  bool playable = false;                                   // sounds, to be heard from a page
  bool trust = false;                                      // how far the alignment can be trusted as the reason
  Index longest_trusted = 1000;  // pieces of an input or output whose trust is measured; more is an Error
};

// A trained model, or several that decide together, for any job: the only thing that the command line, the server and
// Python know of models. Running changes nothing in a model, and many threads may run one at once.
class Runner {
 public:
  using Warn = std::function<void(const std::string&)>;

  // An ensemble's models must be for one job and have the same vocabularies and labels. `threads` 0: as many as ops may
  // use. `weights`: trained or verified.
  Runner(const std::vector<std::filesystem::path>& folders, int threads, Warn warn,
         FolderWeights weights = FolderWeights::trained, Numbers numbers = Numbers::stored,
         const RunSettings& settings = {});
  // Of a model that is loaded already, and may be used by others too. `name` is the model's in traces.
  Runner(std::shared_ptr<const Bundle> bundle, std::string name, int threads, Warn warn);

  // For every sample its answers, best first: as many as asked for, or one that is empty where a text is empty. An
  // input that is cut, or is no UTF-8 and counts as empty, is warned of with its number, which counts on from call to
  // call.
  std::vector<std::vector<Result>> run(std::span<const Sample> samples, const RunOptions& options = {});
  // Traces of what the model gives, or, of samples that have outputs, of the model reading the first of them. What a
  // search saw is the alignment; further attentions cost one more pass. A text that is no UTF-8 is an Error. Of an
  // ensemble the first model is explained.
  std::vector<Trace> explain(std::span<const Sample> samples, const ExplainOptions& options = {});
  // How probable the first output of each sample is. An answer that is none of the choices is an Error, or has no
  // words.
  enum class NoChoice { is_an_error, has_no_words };
  std::vector<SampleScore> score(std::span<const Sample> samples, const InputLimits& limits = {},
                                 const BatchLimits& batch = {}, NoChoice none = NoChoice::is_an_error);

  const Bundle& bundle(std::size_t model = 0) const { return *bundles_[model]; }
  const Job& job() const { return *bundles_.front()->job; }
  const std::string& name() const { return name_; }
  // A text input as the model reads it, the first `longest` pieces and the end; other inputs as they are shown.
  // `playable`: with the sound.
  TraceAxis read_input(std::size_t input, const Value& value, bool playable = false,
                       Index longest = std::numeric_limits<Index>::max()) const;
  // Every attention that a trace can have, with the names of its axes and no weights.
  std::vector<TraceAttention> attentions() const;

 private:
  using Bundles = std::vector<std::shared_ptr<const Bundle>>;
  Runner(Bundles bundles, std::string name, int threads, Warn warn);
  static Bundles load_all(const std::vector<std::filesystem::path>& folders, FolderWeights weights, Numbers numbers,
                          const RunSettings& settings);

  // Samples as numbers; `places` are those of the samples whose inputs all have something in them.
  struct Encoded {
    std::vector<Sample> prepared;
    std::vector<EncodedSample> samples;
    std::vector<std::vector<Choice>> choices;  // of each sample, where a label or a choice is given
    std::vector<std::size_t> places;
  };
  // A question with its blank as models know it; a fault of it or of its choices is an Error, as is an empty text by
  // which a label is to be chosen.
  Sample prepared(Sample sample, Index number) const;
  enum class BadText { counts_as_empty, is_an_error };
  // Fills in `choices` too.
  EncodedSample encode(const Sample& sample, const InputLimits& limits, Index number, BadText bad,
                       std::vector<Choice>& choices, NoChoice none = NoChoice::is_an_error) const;
  // The numbers of the samples begin after `before`.
  Encoded encode_all(std::span<const Sample> samples, const InputLimits& limits, BadText bad, Index before,
                     NoChoice none = NoChoice::is_an_error) const;
  // How many samples there were before these, which are seen with this.
  Index see(std::size_t samples) { return seen_.fetch_add(static_cast<Index>(samples)); }
  // What limits the outputs of the samples in a search; empty if nothing does.
  SearchConstraint constraint(std::span<const EncodedSample> samples, const OutputLimits& limits) const;
  std::vector<std::vector<Result>> write(const Encoded& encoded, const RunOptions& options, Index first) const;
  std::vector<std::vector<Result>> choose(const Encoded& encoded, const RunOptions& options) const;
  // The probabilities of the choices as the model gives them, or shared out anew.
  std::vector<double> reranked(const Sample& prepared, const std::vector<Choice>& choices,
                               std::vector<double> probabilities, const RunOptions& options) const;
  Result result_of(const Hypothesis& hypothesis, const EncodedSample& sample) const;
  // When the words of a sound were said.
  UnitTimes times_of(const Hypothesis& hypothesis, const FrameTimes& frames) const;

  struct Explanation;  // a sample on its way to its trace
  void search_traces(std::span<Explanation> list, const ExplainOptions& options) const;
  void read_traces(std::span<Explanation> list, const ExplainOptions& options) const;
  void choose_traces(std::span<Explanation> list, const ExplainOptions& options) const;
  void measure_trust_of(Explanation& explanation, const ExplainOptions& options) const;
  std::string axis_name(int axis) const;

  Bundles bundles_;
  std::string name_;
  std::vector<const Writer*> writers_;
  std::vector<const Chooser*> choosers_;
  std::shared_ptr<WordScreen> screen_;
  mutable ThreadPool threads_;
  Warn warn_;
  std::atomic<Index> seen_{0};  // samples so far
};

}  // namespace heed
