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
constexpr Index kLongestSentence = 20;
constexpr Real kRate = 1e-3F;

// The frequent words come first, as in bench/translation.
std::int32_t word_of(std::int32_t bits) {
  const std::int64_t u = bits;
  return static_cast<std::int32_t>(3 + ((((u * u) >> 24) * u >> 24) * (kWords - 3) >> 24));
}

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
        source.words.data()[b * source.longest() + length++] = word_of(bits.at({b, s, j}));
      source.ends.data()[b * sentences + s] = static_cast<std::int32_t>(length);
    }
    source.lengths.data()[b] = static_cast<std::int32_t>(length + 1);
  }
  return source;
}

// Texts of up to `longest` words, the shortest four words shorter.
Source texts(Index longest, std::uint32_t seed) {
  const Ids bits = filled_ids(Shape{kPairs, longest}, seed, 1 << 24), shorter = filled_ids(Shape{kPairs}, seed + 1, 5);
  Source source{.words = Ids(Shape{kPairs, longest + 1}, kEnd), .lengths = Ids(Shape{kPairs})};
  for (Index b = 0; b < kPairs; ++b) {
    const Index length = longest - shorter.at({b});
    for (Index j = 0; j < length; ++j) source.words.data()[b * (longest + 1) + j] = word_of(bits.at({b, j}));
    source.lengths.data()[b] = static_cast<std::int32_t>(length + 1);
  }
  return source;
}

struct ChooserBatch {
  std::vector<Source> inputs;
  Ids labels;
};

std::vector<ChooserBatch> made_up(bool pairs) {
  std::vector<ChooserBatch> batches;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t seed = 4000 + 10 * i;
    if (pairs)
      batches.push_back(
          {{texts(kPremise[i], seed), texts(kHypothesis, seed + 2)}, filled_ids(Shape{kPairs}, seed + 4, kLabels)});
    else
      batches.push_back({{documents(kSentences[i], seed)}, filled_ids(Shape{kDocuments}, seed + 4, kLabels)});
  }
  return batches;
}

Source rows_of(const Source& all, Index begin, Index end) {
  const auto cut = [&](const Ids& x) { return x ? x.slice(0, begin, end).contiguous() : x; };
  return {.words = cut(all.words), .lengths = cut(all.lengths), .ends = cut(all.ends)};
}
std::vector<Source> rows_of(const ChooserBatch& batch, Index begin, Index end) {
  std::vector<Source> inputs;
  for (const Source& input : batch.inputs) inputs.push_back(rows_of(input, begin, end));
  return inputs;
}

bool reads_pairs(const std::string& name) { return name == "rocktaschel"; }

struct SmallChooser {
  explicit SmallChooser(const std::string& name) {
    const System& system = system_named(name);
    const std::unique_ptr<Config> config = system.config("small");
    config->inputs.assign(reads_pairs(name) ? 2 : 1, kWords);
    config->outputs = kLabels;
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
  const auto optimiser = std::make_shared<Optimiser>(OptimiserOptions{.lazy = true});
  const auto steps = std::make_shared<Index>(0);
  return [=, batches = made_up(reads_pairs(name))](Results* results) {
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
  return [=, batches = made_up(reads_pairs(name))](Results* results) {
    const NoGradient off;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      Tensor scores(Shape{16, kLabels});
      for (Index begin = 0; begin < 16; begin += together) {
        const Tensor some =
            small->chooser->forward(rows_of(batches[i], begin, begin + together)).scores.value().contiguous();
        std::copy_n(some.data(), some.size(), scores.data() + begin * kLabels);
      }
      if (results) results->emplace_back(fmt::format("scores of batch {}", i), scores);
    }
  };
});

}  // namespace
}  // namespace heed::bench
