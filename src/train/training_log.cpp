#include "heed/train/training_log.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

// Rewrites the file with the whole lines up to the step. A last line without an end was cut off by a kill.
void drop_lines_after(const std::filesystem::path& file, Index step) {
  std::istringstream lines(read_file(file));
  AtomicFile kept(file);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.value("step", Index{0}) <= step) kept.write(line + "\n");
  }
  kept.commit();
}

}  // namespace

TrainingLog::TrainingLog(std::filesystem::path file, Index step, Index total_steps, ProgressScreen screen)
    : file_(std::move(file)), screen_(std::move(screen)), step_(step), total_steps_(total_steps) {
  if (!file_.empty() && std::filesystem::exists(file_)) drop_lines_after(file_, step);
  progress_.emplace(ProgressTask{.title = "training", .total = total_steps, .unit = "steps", .start = step}, screen_);
}

void TrainingLog::expect(Index total_steps) {
  if (total_steps_ > 0) return;
  total_steps_ = total_steps;
  progress_.emplace(ProgressTask{.title = "training", .total = total_steps, .unit = "steps", .start = step_}, screen_);
}

void TrainingLog::update(Index step, const std::string& text) {
  step_ = step;
  progress_->update(step, text);
}

void TrainingLog::steps(const LoggedSteps& line) {
  append(Json{{"step", line.step},
              {"epoch", line.epoch},
              {"loss", line.loss},
              {"rate", line.rate},
              {"norm", line.norm},
              {"words", line.words},
              {"words_per_second", line.words_per_second},
              {"seconds", line.seconds}}
             .dump());
}

void TrainingLog::scores(Index step, Index epoch, const std::vector<ValidationScore>& scores, bool best) {
  Json values = Json::object();
  std::string shown;
  for (const ValidationScore& score : scores) {
    values[score.name] = score.value;
    shown += fmt::format("  {} {:.4g}", score.name, score.value);
  }
  append(Json{{"step", step}, {"epoch", epoch}, {"scores", values}, {"best", best}}.dump());
  note(fmt::format("step {}:{}{}", step, shown, best ? "  (best so far)" : ""));
}

void TrainingLog::note(const std::string& line) { progress_->note(line); }

void TrainingLog::append(const std::string& line) const {
  if (file_.empty()) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file_.c_str(), "a"), std::fclose);
  const bool written = out && std::fputs((line + "\n").c_str(), out.get()) >= 0 && std::fflush(out.get()) == 0;
  require(written, "{}: cannot write it: {}", file_.string(), std::generic_category().message(errno));
}

}  // namespace heed
