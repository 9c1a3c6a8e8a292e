#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/progress.h"

namespace heed {

// One validation value.
struct ValidationScore {
  std::string name;  // "cross-entropy", "bleu"
  double value = 0;
  bool higher_is_better = false;
};

// The training since the line before.
struct LoggedSteps {
  Index step = 0, epoch = 0;  // updates made; passes over the data finished
  double loss = 0;            // a word
  double rate = 0, norm = 0;  // of the last update: learning rate, gradient norm before clipping
  Index words = 0;
  double words_per_second = 0, seconds = 0;  // seconds: of training in all, over all runs
  std::optional<double> waiting = {};        // the share of this run's time that was spent waiting for other ranks
};

// What training tells: a progress bar or plain lines on the screen, and a file of JSON lines, one object a line:
//   {"step":100,"epoch":0,"loss":4.2,"rate":0.0003,"norm":1.1,"words":51200,"words_per_second":8000,"seconds":6.4}
//   {"step":500,"epoch":1,"scores":{"cross-entropy":3.1,"bleu":12.3},"best":true}
class TrainingLog {
 public:
  // Lines of the file after `step` are dropped: a run that was killed made them, and this one makes them again. With an
  // empty path there is no file.
  TrainingLog(std::filesystem::path file, Index step, Index total_steps,
              ProgressScreen screen = ProgressScreen::standard_error());

  // The number of steps in all, once it is known.
  void expect(Index total_steps);
  void update(Index step, const std::string& text);
  void steps(const LoggedSteps& line);
  void scores(Index step, Index epoch, const std::vector<ValidationScore>& scores, bool best);
  void note(const std::string& line);
  void finish() { progress_->finish(); }

 private:
  void append(const std::string& line) const;

  std::filesystem::path file_;
  ProgressScreen screen_;
  Index step_, total_steps_;
  std::optional<Progress> progress_;
};

// One validation of such a file.
struct LoggedScores {
  Index step = 0, epoch = 0;
  double seconds = 0;  // of training until then, between those of the lines around it
  std::map<std::string, double> values;
};

struct TrainingHistory {
  std::vector<LoggedSteps> steps;
  std::vector<LoggedScores> scores;

  // Over the whole training, without validations.
  double words_per_second() const;
};

// What a file of JSON lines tells; a line that was cut off by a kill is left out.
TrainingHistory read_training_log(const std::filesystem::path& file);

}  // namespace heed
