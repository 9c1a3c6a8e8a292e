#include "heed/train/training_log.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json-inl.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string place(const std::filesystem::path& file, Index line) { return fmt::format("{}:{}", file.string(), line); }

// Rewrites the file with the whole lines up to the step. A last line without an end was cut off by a kill.
void drop_lines_after(const std::filesystem::path& file, Index step) {
  std::istringstream lines(read_file(file));
  AtomicFile kept(file);
  Index number = 0;
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    ++number;
    const Json json = object_or_null<Json>(line);  // a line that a kill cut off is none
    if (json.is_object() && whole_field(json, "step", 0, place(file, number)) <= step) kept.write(line + "\n");
  }
  kept.commit();
}

// The seconds at a step, on the line between the logged steps around it; the training began with 0.
double seconds_at(Index step, const std::vector<LoggedSteps>& lines) {
  LoggedSteps before, after;
  for (const LoggedSteps& line : lines) {
    before = after;
    after = line;
    if (line.step >= step) break;
  }
  if (after.step <= before.step) return after.seconds;
  const double share = static_cast<double>(step - before.step) / static_cast<double>(after.step - before.step);
  return before.seconds + share * (after.seconds - before.seconds);
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
  Json json{{"step", line.step},
            {"epoch", line.epoch},
            {"loss", line.loss},
            {"rate", line.rate},
            {"norm", line.norm},
            {"words", line.words},
            {"words_per_second", line.words_per_second},
            {"seconds", line.seconds}};
  if (line.waiting) json["waiting"] = *line.waiting;
  append(json.dump());
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

double TrainingHistory::words_per_second() const {
  double words = 0, seconds = 0;
  for (const LoggedSteps& line : steps) {
    if (line.words_per_second <= 0) continue;
    words += static_cast<double>(line.words);
    seconds += static_cast<double>(line.words) / line.words_per_second;
  }
  return seconds > 0 ? words / seconds : 0;
}

TrainingHistory read_training_log(const std::filesystem::path& file) {
  TrainingHistory history;
  Index number = 0;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    const Json json = object_or_null<Json>(line);
    const std::string here = place(file, ++number);
    if (!json.is_object()) continue;
    const auto whole = [&](const char* name) { return whole_field(json, name, 0, here); };
    const auto real = [&](const char* name) { return number_field(json, name, 0, here); };
    const Index step = whole("step"), epoch = whole("epoch");
    if (json.contains("loss"))
      history.steps.push_back({step, epoch, real("loss"), real("rate"), real("norm"), whole("words"),
                               real("words_per_second"), real("seconds")});
    if (json.contains("scores") && json["scores"].is_object()) {
      LoggedScores& scores = history.scores.emplace_back(LoggedScores{step, epoch, 0, {}});
      for (const auto& [name, value] : json["scores"].items())
        if (value.is_number()) scores.values[name] = value.get<double>();
    }
  }
  for (LoggedScores& scores : history.scores) scores.seconds = seconds_at(scores.step, history.steps);
  return history;
}

}  // namespace heed
