#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "heed/autograd/gradient_check.h"
#include "heed/autograd/ops/elementwise.h"
#include "support/op_cases.h"

namespace heed::test {
namespace {

// Ops whose backward is by definition not the derivative of the forward; each has a test of its own.
const std::set<std::string> kNotDerivatives = {"scale_gradient"};

TEST(OpGradients, EveryRegisteredOpPasses) {
  for (const OpCase& op : op_cases()) {
    std::uint64_t seed = 1;
    for (const OpExample& example : op.examples) {
      SCOPED_TRACE(op.op + " " + example.attributes.dump() + " example " + std::to_string(seed));
      const GradientCheck check =
          check_gradient([&](std::span<const Var> inputs) { return op.apply(inputs, example.attributes); },
                         make_inputs(example, seed++));
      EXPECT_LE(check.worst, 1e-8) << check.where;
    }
  }
}

TEST(OpGradients, EveryRecordedNameIsRegistered) {
  std::set<std::string> registered = kNotDerivatives;
  for (const OpCase& op : op_cases()) {
    EXPECT_FALSE(op.examples.empty()) << op.op;
    registered.insert(op.op);
  }
  // `record("name"` or a local helper that passes the name on: `unary("name"`.
  const std::regex recorded(R"re(\b(?:record|record_nodes|unary)\(\s*"([a-z0-9_]+)")re");
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HEED_SOURCE_DIR "/src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (std::sregex_iterator it(text.begin(), text.end(), recorded), end; it != end; ++it, ++found)
      EXPECT_TRUE(registered.count((*it)[1])) << (*it)[1] << " in " << entry.path() << " has no gradient check";
  }
  EXPECT_GT(found, 15);
}

TEST(OpGradients, ScaleGradientLeavesTheValue) {
  const Var x = Var::leaf(Tensor(Shape{2}, {3, 4}));
  const Var y = scale_gradient(x, 0.25);
  EXPECT_EQ(y.value().at({1}), 4);
  Gradients gradients;
  backward(y, Tensor(Shape{2}, {1, 8}), gradients);
  EXPECT_EQ(gradients.of(x).at({0}), 0.25);
  EXPECT_EQ(gradients.of(x).at({1}), 2);
}

}  // namespace
}  // namespace heed::test
