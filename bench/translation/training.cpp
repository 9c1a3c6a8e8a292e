// Training of a translation model: one repetition is an update for each of four batches. In the repetitions that are
// compared dropout is off, in those that are timed it is on.
#include "heed/store/parameters_file.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

const Family training("translation-training", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "rnnsearch");
  const auto small = std::make_shared<SmallModel>(name);
  save_parameters(weights_file(name), small->parameters);
  return training_step(small, made_up_batches());
});

}  // namespace
}  // namespace heed::bench
