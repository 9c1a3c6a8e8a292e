#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "support/op_cases.h"

// Replays what PyTorch computed in double for every registered op (tests/reference/make_op_cases.py): values and all
// gradients, in float.

namespace heed::test {
namespace {

// A recorded case sums at most some forty products of numbers near 1, each rounded to 2⁻²⁴ relative, and the SIMD
// functions are within a few units in the last place: 40 · 6e-8 is the worst that can add up.
constexpr double kTolerance = 2.5e-6;

// Ops without recorded cases, and why.
const std::map<std::string, std::string> kExempt = {
    {"ctc_loss", "ctc_test.cpp has PyTorch's numbers, infinite ones among them"},
    {"dropout", "its mask is a function of our own random key; PyTorch draws another"},
    {"scale_gradient", "its backward is by definition not the derivative of its value"},
};

struct RecordedCase {
  std::string op;
  Attributes attributes;
  std::vector<Tensor> inputs;
  Tensor output, direction;
  std::vector<Tensor> gradients;
};

Shape shape_from(const nlohmann::json& list) {
  const auto sizes = list.get<std::vector<Index>>();
  return Shape(std::span<const Index>(sizes));
}

Tensor tensor_from(const Shape& shape, const nlohmann::json& values) {
  return Tensor(shape, std::span<const Real>(values.get<std::vector<Real>>()));
}

std::vector<RecordedCase> read_cases() {
  std::ifstream file(HEED_SOURCE_DIR "/tests/autograd/data/op_cases.jsonl");
  std::vector<RecordedCase> cases;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    RecordedCase& each = cases.emplace_back();
    each.op = json.at("op");
    each.attributes = json.at("attributes");
    for (const auto& input : json.at("inputs"))
      each.inputs.push_back(tensor_from(shape_from(input.at("shape")), input.at("values")));
    const Shape shape = shape_from(json.at("output").at("shape"));
    each.output = tensor_from(shape, json.at("output").at("values"));
    each.direction = tensor_from(shape, json.at("direction"));
    for (std::size_t i = 0; i < each.inputs.size(); ++i)
      each.gradients.push_back(tensor_from(each.inputs[i].shape(), json.at("gradients").at(i)));
  }
  return cases;
}

const std::vector<RecordedCase>& recorded_cases() {
  static const std::vector<RecordedCase> cases = read_cases();
  return cases;
}

const OpCase* registered(const std::string& op) {
  for (const OpCase& each : op_cases())
    if (each.op == op) return &each;
  return nullptr;
}

void expect_near(const Tensor& ours, const Tensor& theirs, const char* what) {
  ASSERT_EQ(ours.shape(), theirs.shape()) << what;
  const Tensor packed = ours.contiguous();
  for (Index i = 0; i < theirs.size(); ++i) {
    const double a = static_cast<double>(packed.data()[i]), b = static_cast<double>(theirs.data()[i]);
    ASSERT_LE(std::abs(a - b), kTolerance * (1 + std::abs(b))) << what << " element " << i << ": " << a << " and " << b;
  }
}

// The same numbers behind strides that are not packed, where the rank allows it.
Tensor as_view(const Tensor& x) {
  if (x.rank() < 2) return x;
  return x.transpose(0, -1).copy().transpose(0, -1);
}

// Runs a case with the inputs in `wanted` as variables and the others as constants.
void replay(const RecordedCase& each, const std::vector<Tensor>& inputs, const std::set<std::size_t>& wanted) {
  const OpCase* op = registered(each.op);
  ASSERT_NE(op, nullptr) << "recorded, but not registered";
  std::vector<Var> vars;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    vars.push_back(wanted.count(i) ? Var::leaf(inputs[i]) : Var(inputs[i]));
  const Var y = op->apply(vars, each.attributes);
  expect_near(y.value(), each.output, "value");
  Gradients gradients;
  backward(y, each.direction, gradients);
  for (const std::size_t i : wanted)
    expect_near(gradients.of(vars[i]), each.gradients[i], ("gradient of input " + std::to_string(i)).c_str());
}

std::set<std::size_t> all_of(const RecordedCase& each) {
  std::set<std::size_t> all;
  for (std::size_t i = 0; i < each.inputs.size(); ++i) all.insert(i);
  return all;
}

TEST(OpParity, ValuesAndGradientsAreThoseOfPyTorch) {
  for (const RecordedCase& each : recorded_cases()) {
    SCOPED_TRACE(each.op + " " + each.attributes.dump());
    replay(each, each.inputs, all_of(each));
  }
}

TEST(OpParity, OneWantedGradientIsTheSameAsAll) {
  for (const RecordedCase& each : recorded_cases()) {
    SCOPED_TRACE(each.op + " " + each.attributes.dump());
    if (each.inputs.size() > 1)
      for (std::size_t i = 0; i < each.inputs.size(); ++i) replay(each, each.inputs, {i});
  }
}

TEST(OpParity, StridedViewsAreReadAsTheirNumbers) {
  for (const RecordedCase& each : recorded_cases()) {
    SCOPED_TRACE(each.op + " " + each.attributes.dump());
    std::vector<Tensor> views;
    for (const Tensor& input : each.inputs) views.push_back(as_view(input));
    replay(each, views, all_of(each));
  }
}

TEST(OpParity, EveryRegisteredOpHasRecordedCases) {
  std::map<std::string, int> recorded;
  for (const RecordedCase& each : recorded_cases()) ++recorded[each.op];
  for (const OpCase& op : op_cases()) {
    if (kExempt.count(op.op)) {
      EXPECT_EQ(recorded.count(op.op), 0u) << op.op << " is exempt and yet recorded";
    } else {
      EXPECT_GE(recorded[op.op], 4) << op.op << ": add it to tests/reference/make_op_cases.py";
    }
  }
}

}  // namespace
}  // namespace heed::test
