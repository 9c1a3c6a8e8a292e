#pragma once

#include <memory>
#include <vector>

#include "heed/data/dates.h"
#include "heed/models/date_reader.h"

namespace heed {

// The demo's training: generated dates, Adam, a progress bar.
struct DateTraining {
  DateReaderConfig model;
  Index steps = 500;
  Index batch = 64;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all
  double learning_rate = 3e-3;
};

struct TrainedDateReader {
  std::unique_ptr<Parameters> parameters;
  std::unique_ptr<DateReader> model;
  std::vector<DatePair> unseen;  // dates that were not trained on
  std::size_t correct = 0;       // of them
  double seconds = 0;            // of training
};
TrainedDateReader train_date_reader(const DateTraining& options);

}  // namespace heed
