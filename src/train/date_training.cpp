#include "heed/train/date_training.h"

#include <chrono>
#include <span>

#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/base/progress.h"
#include "heed/train/clip.h"
#include "heed/train/optimiser.h"
#include "heed/train/workers.h"

namespace heed {
namespace {

constexpr std::size_t kUnseen = 500;
constexpr Index kShards = 4;

}  // namespace

TrainedDateReader train_date_reader(const DateTraining& options) {
  require(options.steps > 0 && options.batch >= kShards,
          "[demo] needs at least 1 step of at least {} dates, not {} of {}", kShards, options.steps, options.batch);
  // All distinct: the first ones are kept for the test, the rest are read once each.
  const std::vector<DatePair> dates =
      generate_dates(kUnseen + static_cast<std::size_t>(options.steps * options.batch), options.seed);
  TrainedDateReader result;
  result.unseen.assign(dates.begin(), dates.begin() + kUnseen);
  result.parameters = std::make_unique<Parameters>(options.seed);
  DateReaderConfig config = options.model;
  config.characters = written_alphabet_size();
  config.symbols = iso_alphabet_size();
  result.model = std::make_unique<DateReader>(Scope(*result.parameters), config);

  Optimiser optimiser({.algorithm = Adam{}});
  Workers workers({.shards = kShards, .threads = options.threads, .seed = options.seed});
  const auto began = std::chrono::steady_clock::now();
  {
    Progress progress({.title = "training", .total = options.steps, .unit = "steps"});
    for (Index step = 0; step < options.steps; ++step) {
      const std::span<const DatePair> batch(dates.data() + kUnseen + static_cast<std::size_t>(step * options.batch),
                                            static_cast<std::size_t>(options.batch));
      const Workers::Result done = workers.run(*result.parameters, step, [&](Index shard, Random& random) {
        const Index begin = options.batch * shard / kShards, end = options.batch * (shard + 1) / kShards;
        const DateBatch piece =
            make_date_batch(batch.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
        const Var logits = result.model->forward(piece.written, piece.lengths, piece.iso, random);
        const Var loss = cross_entropy(logits, piece.iso, {.average = false});
        return scale(loss, Real{1} / static_cast<Real>(options.batch * piece.iso.size(1)));
      });
      const Real clip = clip_factor(global_norm(done.gradients, *result.parameters), 1);
      optimiser.step(*result.parameters, done.gradients, static_cast<Real>(options.learning_rate), clip);
      progress.update(step + 1, fmt::format("loss {:.3f}", done.loss));
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (const DatePair& pair : result.unseen)
    result.correct += iso_text(result.model->read(written_ids(pair.written)).symbols) == pair.iso;
  return result;
}

}  // namespace heed
