// Training of a translation model: one repetition is an update for each of four batches. In the repetitions that are
// compared dropout is off, in those that are timed it is on.
#include <fmt/format.h>

#include "attention/settings.h"
#include "heed/base/threads.h"
#include "heed/store/parameters_file.h"
#include "translation/work.h"

namespace heed::bench {
namespace {

const Family training("translation-training", [](Settings& settings) -> Step {
  const std::string name = settings.word("model", "rnnsearch");
  const auto small = std::make_shared<SmallModel>(name);
  save_parameters(weights_file(name), small->parameters);
  const auto updates = std::make_shared<Updates>(*small, thread_count());
  return [small, updates, batches = made_up_batches()](Results* results) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const double loss = updates->run(batches[i], results == nullptr);
      if (results) results->emplace_back(fmt::format("loss of batch {}", i), Tensor::scalar(static_cast<Real>(loss)));
    }
  };
});

}  // namespace
}  // namespace heed::bench
