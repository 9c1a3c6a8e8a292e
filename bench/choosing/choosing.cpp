// Models that choose labels: one repetition of training is an update for each of four batches, one of running reads 64
// samples, together or one by one. In the repetitions that are compared dropout is off, in those of training that are
// timed it is on. bench/peers/torch_choosing.py has the same.
#include <fmt/format.h>

#include "attention/settings.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/base/threads.h"
#include "heed/data/symbols.h"
#include "heed/store/parameters_file.h"
#include "heed/train/optimiser.h"
#include "heed/train/workers.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

constexpr Index kWords = 30'000, kLabels = 3;
constexpr Index kDocuments = 32, kSentences[] = {6, 10, 14, 20};             // of each batch, and of each document
constexpr Index kPairs = 64, kPremise[] = {9, 13, 17, 22}, kHypothesis = 9;  // longest of each batch
constexpr Index kQuestions = 32, kStory[] = {300, 400, 500, 600}, kQuestion = 25, kChoices = 10;
constexpr Index kLongestSentence = 20;
constexpr Real kRate = 1e-3F;
// SparseAdam adds it before the bias correction, we add it after: so small that it does not count for either.
constexpr double kEpsilon = 1e-12;

// Documents of as many sentences each, of 11 to 20 words.
Source documents(Index sentences, std::uint32_t seed) {
  const Ids bits = filled_ids(Shape{kDocuments, sentences, kLongestSentence}, seed, 1 << 24),
            shorter = filled_ids(Shape{kDocuments, sentences}, seed + 1, 10);
  Source source{.words = Ids(Shape{kDocuments, sentences * kLongestSentence + 1}, kEnd),
                .lengths = Ids(Shape{kDocuments}),
                .ends = Ids(Shape{kDocuments, sentences})};
  for (Index b = 0; b < kDocuments; ++b) {
    Index length = 0;
    for (Index s = 0; s < sentences; ++s) {
      for (Index j = 0; j < kLongestSentence - shorter.at({b, s}); ++j)
        source.words.data()[b * source.longest() + length++] = frequent_word(bits.at({b, s, j}), kWords);
      source.ends.data()[b * sentences + s] = static_cast<std::int32_t>(length);
    }
    source.lengths.data()[b] = static_cast<std::int32_t>(length + 1);
  }
  return source;
}

// Texts of up to `longest` words, the shortest four words shorter.
Source texts(Index count, Index longest, std::uint32_t seed) {
  const Ids bits = filled_ids(Shape{count, longest}, seed, 1 << 24), shorter = filled_ids(Shape{count}, seed + 1, 5);
  Source source{.words = Ids(Shape{count, longest + 1}, kEnd), .lengths = Ids(Shape{count})};
  for (Index b = 0; b < count; ++b) {
    const Index length = longest - shorter.at({b});
    for (Index j = 0; j < length; ++j)
      source.words.data()[b * (longest + 1) + j] = frequent_word(bits.at({b, j}), kWords);
    source.lengths.data()[b] = static_cast<std::int32_t>(length + 1);
  }
  return source;
}

// A document in which each of the choices stands at about one place in sixty, a question, and the choices.
std::vector<Source> question(Index longest, std::uint32_t seed) {
  std::vector<Source> inputs{texts(kQuestions, longest, seed), texts(kQuestions, kQuestion, seed + 2)};
  Source& document = inputs.front();
  document.marks = filled_ids(document.words.shape(), seed + 5, 60);
  for (Index b = 0; b < kQuestions; ++b)
    for (Index j = 0; j < document.longest(); ++j) {
      std::int32_t& mark = document.marks.data()[b * document.longest() + j];
      if (mark >= kChoices || j + 1 >= document.lengths.data()[b]) mark = -1;
    }
  Source choices{.words = Ids(Shape{kQuestions, kChoices + 1}, kEnd),
                 .lengths = Ids(Shape{kQuestions}, static_cast<std::int32_t>(kChoices + 1)),
                 .ends = Ids(Shape{kQuestions, kChoices})};
  for (Index b = 0; b < kQuestions; ++b)
    for (Index c = 0; c < kChoices; ++c) choices.ends.data()[b * kChoices + c] = static_cast<std::int32_t>(c + 1);
  inputs.push_back(std::move(choices));
  return inputs;
}

struct ChooserBatch {
  std::vector<Source> inputs;
  Ids labels;
};

bool reads_pairs(const std::string& name) { return name == "rocktaschel"; }
bool reads_questions(const std::string& name) { return name == "aoa"; }
Index labels_of(const std::string& name) { return reads_questions(name) ? kChoices : kLabels; }

std::vector<ChooserBatch> made_up(const std::string& name) {
  std::vector<ChooserBatch> batches;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t seed = 4000 + 10 * i;
    ChooserBatch& batch = batches.emplace_back();
    if (reads_questions(name))
      batch.inputs = question(kStory[i], seed);
    else if (reads_pairs(name))
      batch.inputs = {texts(kPairs, kPremise[i], seed), texts(kPairs, kHypothesis, seed + 2)};
    else
      batch.inputs = {documents(kSentences[i], seed)};
    batch.labels =
        filled_ids(Shape{batch.inputs.front().batch()}, seed + 4, static_cast<std::int32_t>(labels_of(name)));
  }
  return batches;
}

std::vector<Source> rows_of(const ChooserBatch& batch, Index begin, Index end) {
  std::vector<Source> inputs;
  for (const Source& input : batch.inputs) inputs.push_back(bench::rows_of(input, begin, end));
  return inputs;
}

struct SmallChooser {
  explicit SmallChooser(const std::string& name) {
    const System& system = system_named(name);
    const std::unique_ptr<Config> config = system.config("small");
    config->inputs.assign(reads_pairs(name) || reads_questions(name) ? 2 : 1, kWords);
    config->outputs = labels_of(name);
    model = system.make(parameters, *config);
    chooser = dynamic_cast<const Chooser*>(model.get());
    save_parameters(weights_file(name), parameters);
  }
  Parameters parameters{1};
  std::unique_ptr<Model> model;
  const Chooser* chooser = nullptr;
};

const Family training("choosing-training", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "han");
  const auto small = std::make_shared<SmallChooser>(name);
  const int threads = thread_count();
  const auto workers = std::make_shared<Workers>(WorkersOptions{.shards = threads, .threads = threads});
  const auto optimiser =
      std::make_shared<Optimiser>(OptimiserOptions{.algorithm = Adam{.epsilon = kEpsilon}, .lazy = true});
  const auto steps = std::make_shared<Index>(0);
  return [=, batches = made_up(name)](Results* results) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const ChooserBatch& batch = batches[i];
      const Index samples = batch.labels.size();
      const Workers::Result result =
          workers->run(small->parameters, (*steps)++, [&](Index shard, Random& random) -> Var {
            const Index begin = samples * shard / threads, end = samples * (shard + 1) / threads;
            const Chosen chosen =
                small->chooser->forward(rows_of(batch, begin, end), {.random = results ? nullptr : &random});
            return cross_entropy(chosen.scores, batch.labels.slice(0, begin, end).contiguous(), {.average = false});
          });
      optimiser->step(small->parameters, result.gradients, kRate, Real{1} / static_cast<Real>(samples));
      if (results)
        results->emplace_back(fmt::format("loss of batch {}", i),
                              Tensor::scalar(static_cast<Real>(result.loss / static_cast<double>(samples))));
    }
  };
});

const Family running("choosing-running", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "han");
  const auto small = std::make_shared<SmallChooser>(name);
  const Index together = settings.number("samples", 16);
  return [=, batches = made_up(name)](Results* results) {
    const NoGradient off;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      Tensor scores(Shape{16, labels_of(name)});
      for (Index begin = 0; begin < 16; begin += together) {
        const Tensor some =
            small->chooser->forward(rows_of(batches[i], begin, begin + together)).scores.value().contiguous();
        std::copy_n(some.data(), some.size(), scores.data() + begin * labels_of(name));
      }
      if (results) results->emplace_back(fmt::format("scores of batch {}", i), scores);
    }
  };
});

}  // namespace
}  // namespace heed::bench
