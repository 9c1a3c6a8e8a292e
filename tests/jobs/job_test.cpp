#include "heed/jobs/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "heed/jobs/training_options.h"
#include "support/messages.h"

namespace heed {
namespace {

using test::message_of;

std::vector<std::string> names_of(const std::vector<const System*>& list) {
  std::vector<std::string> names;
  for (const System* system : list) names.push_back(system->name);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Jobs, AreSortedByName) {
  ASSERT_GE(jobs().size(), 2u);
  for (std::size_t i = 1; i < jobs().size(); ++i) EXPECT_LT(jobs()[i - 1].name, jobs()[i].name);
}

TEST(Jobs, EveryOneIsWhole) {
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    EXPECT_FALSE(job.name.empty() || job.verb.empty() || job.summary.empty());
    EXPECT_FALSE(job.inputs.empty());
    EXPECT_TRUE(is_text(job.output.kind) || job.chooses());
    for (const JobSide& input : job.inputs) {
      EXPECT_NE(input.kind, Kind::label);
      for (const System* system : systems_of(job))
        EXPECT_TRUE(is_text(input.kind) || system->sense) << system->name << " " << input.name;
    }
    EXPECT_EQ(job.sides().size(), job.inputs.size() + 1);
    EXPECT_EQ(job.sides().back(), &job.output);
    for (const JobSide* side : job.sides()) {
      EXPECT_FALSE(side->help.empty()) << side->name;
      EXPECT_EQ(flag_name(side->name), side->name);  // a name is a flag as it stands
    }
    EXPECT_TRUE(job.example.empty() || job.example.size() == job.inputs.size());
    for (const Metric& metric : job.metrics) {
      EXPECT_FALSE(metric.name.empty() || metric.title.empty());
      EXPECT_TRUE(static_cast<bool>(metric.measure)) << metric.name;
      EXPECT_EQ(&job.metric_named(metric.name), &metric);
    }
  }
}

TEST(Jobs, ColumnsAreTheSides) {
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    const std::vector<SampleColumn> columns = job.sample_columns();
    std::set<std::string> names;
    ASSERT_EQ(columns.size(), job.columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(columns[i].name, job.columns[i]);
      EXPECT_TRUE(names.insert(columns[i].name).second) << columns[i].name;
      EXPECT_EQ(columns[i].output, columns[i].name == job.output.name);
    }
    for (const JobSide* side : job.sides()) EXPECT_TRUE(names.count(side->name)) << side->name;
  }
}

TEST(Jobs, NamesVerbsAndSpellingsAreUnique) {
  std::set<std::string> names, verbs;
  Index defaults = 0;
  for (const Job& job : jobs()) {
    EXPECT_TRUE(names.insert(job.name).second) << job.name;
    EXPECT_TRUE(verbs.insert(job.verb).second) << job.verb;
    EXPECT_EQ(job_of_verb(job.verb), &job);
    for (const std::string& spelling : job.spellings) {
      EXPECT_TRUE(verbs.insert(spelling).second) << spelling;
      EXPECT_EQ(job_of_verb(spelling), &job);
    }
    defaults += job.is_default ? 1 : 0;
  }
  EXPECT_EQ(defaults, 1);
  EXPECT_EQ(job_of_verb("translation"), nullptr);
  EXPECT_EQ(job_of_verb(""), nullptr);
}

// A flag that meant two things would set only one of them.
TEST(Jobs, NoSideMakesAFlagThatTrainingHas) {
  std::set<std::string> own;
  Training none(default_job());
  none.sides.clear();
  for (const FieldDescription& field : describe_fields([&](Fields& f) { none.visit(f); })) own.insert(field.name);
  for (const auto& [other, ours] : other_names()) own.insert(other);
  EXPECT_TRUE(own.count("data") && own.count("vocabulary") && own.count("valid"));
  for (const Job& job : jobs())
    for (const JobSide* side : job.sides())
      for (const std::string& flag : {side->name, "valid-" + side->name, side->name + "-vocabulary"})
        EXPECT_FALSE(own.count(flag)) << job.name << " " << flag;
}

TEST(Jobs, EveryOneHasASystemThatFits) {
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    EXPECT_TRUE(contains(names_of(systems_of(job)), job.system));
    const TrainingPlan plan = plan_training({{"job", job.name, "--job"}});
    EXPECT_EQ(plan.training.job, job.name);
    EXPECT_EQ(plan.training.model, job.system);
    ASSERT_EQ(plan.training.sides.size(), job.sides().size());
    for (std::size_t i = 0; i < plan.training.sides.size(); ++i) EXPECT_EQ(plan.training.sides[i].side, job.sides()[i]);
  }
}

TEST(Jobs, EverySystemIsFoundByTheJobItNames) {
  for (const System& system : systems()) {
    const Job& job = job_named(system.job);
    EXPECT_TRUE(contains(names_of(systems_of(job)), system.name)) << system.name;
    EXPECT_EQ(plan_training({{"model", system.name, "--model"}}).training.job, job.name);
  }
}

TEST(Jobs, SystemsOfTheSameKindsAreShared) {
  const std::vector<std::string> translating = names_of(systems_of(job_named("translation")));
  EXPECT_EQ(names_of(systems_of(job_named("summarisation"))), translating);
  for (const char* name : {"convs2s", "luong", "rnnsearch", "seq2seq-gru", "seq2seq-lstm", "transformer"})
    EXPECT_TRUE(contains(translating, name)) << name;
  EXPECT_FALSE(contains(translating, "shades"));
  EXPECT_FALSE(contains(names_of(systems_of(job_named("shading"))), "transformer"));
}

TEST(Jobs, NamesThatNobodyKnowsAreErrors) {
  EXPECT_EQ(message_of([] { job_named("sumarisation"); }),
            "[jobs] there is no job sumarisation; did you mean summarisation?");
  EXPECT_EQ(message_of([] { default_job().metric_named("bleus"); }),
            "[translation] there is no metric bleus; did you mean bleu?");
  EXPECT_EQ(&job_named(""), &default_job());
  EXPECT_EQ(default_job().name, "translation");
}

TEST(Jobs, DeclarationsThatDoNotHoldAreErrors) {
  Job job{.name = "twins",
          .verb = "twin",
          .summary = "",
          .inputs = {{.name = "left"}, {.name = "right"}},
          .output = {.name = "both"},
          .columns = {"left", "right", "both"},
          .system = "transformer"};
  EXPECT_EQ(message_of([&] { RegisterJob{job}; }), "[twins] a job that gives words reads one input, not 2");
  job.output.kind = Kind::label;
  job.columns = {"left", "both"};
  EXPECT_EQ(message_of([&] { RegisterJob{job}; }), "[twins] its columns are not its inputs and its output");
  EXPECT_EQ(message_of([] { job_named("twins"); }).find("[jobs] there is no job twins"), 0u);
}

}  // namespace
}  // namespace heed
