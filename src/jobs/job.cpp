#include "heed/jobs/job.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

std::vector<Job>& registry() {
  static std::vector<Job> list;
  return list;
}

// Texts and documents are the same to a model that reads words.
bool same_kinds(const Job& a, const Job& b) {
  const auto same = [](const JobSide& x, const JobSide& y) {
    return x.kind == y.kind || (is_text(x.kind) && is_text(y.kind));
  };
  return same(a.output, b.output) &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), same);
}

}  // namespace

std::vector<const JobSide*> Job::sides() const {
  std::vector<const JobSide*> sides;
  for (const JobSide& input : inputs) sides.push_back(&input);
  sides.push_back(&output);
  return sides;
}

std::vector<SampleColumn> Job::sample_columns() const {
  std::vector<SampleColumn> list;
  for (const std::string& column : columns)
    for (const JobSide* side : sides())
      if (side->name == column)
        list.push_back({side->name, side->kind, side == &output, side->also, side->unlabelled, side->blank});
  return list;
}

const Metric& Job::metric_named(const std::string& wanted) const {
  std::vector<std::string> known;
  for (const Metric& metric : metrics) {
    if (metric.name == wanted) return metric;
    known.push_back(metric.name);
  }
  fail("[{}] there is no metric {}{}", name, wanted, did_you_mean(wanted, known));
}

RegisterJob::RegisterJob(Job job) {
  require(job.chooses() || job.inputs.size() == 1, "[{}] a job that gives words reads one input, not {}", job.name,
          job.inputs.size());
  require(job.sample_columns().size() == job.inputs.size() + 1, "[{}] its columns are not its inputs and its output",
          job.name);
  std::vector<Job>& list = registry();
  const auto place = std::upper_bound(list.begin(), list.end(), job.name,
                                      [](const std::string& name, const Job& other) { return name < other.name; });
  list.insert(place, std::move(job));
}

const std::vector<Job>& jobs() { return registry(); }

const Job& default_job() {
  const auto found = std::find_if(registry().begin(), registry().end(), [](const Job& job) { return job.is_default; });
  require(found != registry().end(), "[jobs] there is no default");
  return *found;
}

const Job& job_named(const std::string& name) {
  if (name.empty()) return default_job();
  std::vector<std::string> known;
  for (const Job& job : registry()) {
    if (job.name == name) return job;
    known.push_back(job.name);
  }
  fail("[jobs] there is no job {}{}", name, did_you_mean(name, known));
}

const Job* job_of_verb(const std::string& verb) {
  for (const Job& job : registry())
    if (job.verb == verb || std::find(job.spellings.begin(), job.spellings.end(), verb) != job.spellings.end())
      return &job;
  return nullptr;
}

std::vector<const System*> systems_of(const Job& job) {
  std::vector<const System*> list;
  for (const System& system : systems()) {
    std::vector<std::string> published = system.also;
    published.push_back(system.job);
    if (std::any_of(published.begin(), published.end(),
                    [&job](const std::string& name) { return same_kinds(job_named(name), job); }))
      list.push_back(&system);
  }
  return list;
}

}  // namespace heed
