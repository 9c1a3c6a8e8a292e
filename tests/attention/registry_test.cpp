#include <gtest/gtest.h>

#include <set>

#include "attention/composition_cases.h"
#include "heed/attention/mechanism.h"

namespace heed::test {
namespace {

template <class Part>
void expect_described(const std::string& text) {
  std::set<std::string> names;
  for (const PartEntry<Part>& entry : PartRegistry<Part>::entries()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << "registered twice";
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.equation.empty());
    EXPECT_FALSE(entry.paper.empty());
    EXPECT_NE(text.find("\n  " + entry.name + " "), std::string::npos);
    EXPECT_NE(text.find(entry.summary), std::string::npos);
  }
  EXPECT_FALSE(names.empty());
}

TEST(Registry, EveryPartIsDescribed) {
  const std::string text = describe_attentions();
  expect_described<Score>(text);
  expect_described<Window>(text);
  expect_described<Normaliser>(text);
}

TEST(Registry, EveryMechanismIsDescribedWithPaperEquationPartsAndCost) {
  const std::string text = describe_attentions();
  std::set<std::string> names;
  for (const Mechanism& m : mechanisms()) {
    SCOPED_TRACE(m.name);
    EXPECT_TRUE(names.insert(m.name).second) << "registered twice";
    for (const std::string& field : {m.paper, m.equation, m.cost.time, m.cost.memory, m.cost.steps, m.cost.path}) {
      EXPECT_FALSE(field.empty());
      EXPECT_NE(text.find(field), std::string::npos) << field;
    }
    const auto place = text.find("\n  " + m.name + "\n");
    ASSERT_NE(place, std::string::npos);
    const std::string entry = text.substr(place, text.find("\n  ", text.find("sequential steps", place)) - place);
    EXPECT_NE(entry.find(m.paper), std::string::npos);
    EXPECT_NE(entry.find("score " + m.options.score + ", window " + m.options.window + ", normaliser " +
                         m.options.normaliser),
              std::string::npos)
        << entry;
    EXPECT_NE(entry.find("time " + m.cost.time + ", memory " + m.cost.memory + ", sequential steps " + m.cost.steps +
                         ", path " + m.cost.path),
              std::string::npos)
        << entry;
    EXPECT_EQ(&mechanism_named(m.name), &m);
  }
  EXPECT_GE(names.size(), 30U);
}

TEST(Registry, MechanismsAreInOrder) {
  EXPECT_TRUE(std::is_sorted(mechanisms().begin(), mechanisms().end(),
                             [](const Mechanism& a, const Mechanism& b) { return a.name < b.name; }));
}

TEST(Registry, StateIsDeclared) {
  // Behind the normaliser, which ends the line of a mechanism that remembers nothing.
  const auto remembered = [](const char* name) {
    const std::string text = describe_attentions();
    const std::string before = "normaliser softmax";
    const auto place = text.find(before, text.find("\n  " + std::string(name) + "\n")) + before.size();
    return text.substr(place, text.find('\n', place) - place);
  };
  EXPECT_EQ(remembered("bahdanau"), "");
  EXPECT_EQ(remembered("chorowski"), "; remembers the last weights");
  EXPECT_EQ(remembered("see"), "; remembers the sum of all weights");
  EXPECT_EQ(remembered("rocktaschel-word-by-word"), "; remembers the last read");
}

// A part of a program's own: registered by a constant, then one of the parts by name and in the list.
class Nearest final : public Score {
 public:
  Var operator()(const Query& query, const Memory& memory) const override {
    Tensor e(Shape{memory.batch(), memory.heads(), query.count(), memory.size()});
    for (Index i = 0; i < e.size(); ++i) e.data()[i] = static_cast<Real>(-(i % memory.size()));
    return Var(e);
  }
};

TEST(Registry, ProgramsMayRegisterTheirOwn) {
  {
    const RegisterScore mine{{"test-nearest", "the first positions", "e = -j", "none",
                              [](const Scope&, const AttentionOptions&) { return std::make_unique<Nearest>(); }}};
    const Instance instance(small(composed_of("test-nearest")));
    const Tensor weights = ask(instance.attention, random_inputs({}, 1)).weights.value();
    EXPECT_GT(weights.at({0, 0, 0, 0}), weights.at({0, 0, 0, 1}));
    EXPECT_NE(describe_attentions().find("test-nearest"), std::string::npos);
  }
  RegisterScore::entries().pop_back();
}

}  // namespace
}  // namespace heed::test
