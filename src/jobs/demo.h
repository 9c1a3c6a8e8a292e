#pragma once

#include <filesystem>

#include "heed/jobs/training.h"

namespace heed {

struct DemoOptions {
  const Job* job = nullptr;  // one with a demo
  std::filesystem::path output = "heed-demo";
  Index samples = 0, steps = 0;  // 0: the demo's own
  Index seed = 1;
  int threads = 0;
  std::vector<GivenOption> training = {};  // over the demo's own options, where the model has them
};

// Makes the corpus, unless it is there, trains the small model on it, runs it on samples that it has never seen and
// draws five of them. `print` takes what the person who started it reads. Gives the signal that stopped the training, 0
// if none did.
int run_demo(const DemoOptions& options, const Say& print, const Say& say);

// Whether the model that the demo trains has an option.
bool demo_has_option(const Job& job, const std::string& name);

}  // namespace heed
