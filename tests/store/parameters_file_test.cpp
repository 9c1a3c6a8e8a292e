#include "heed/store/parameters_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/store/checkpoint.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

// Runs in float and in double.

namespace heed {
namespace {

const auto fail_if_called = [](Tensor&, RandomKey) { FAIL() << "values were drawn"; };

class ParametersFileTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "model.safetensors";
};

TEST_F(ParametersFileTest, AModelGetsWhatWasSaved) {
  Parameters saved;
  saved.add("layer.weight", Shape{3, 4}, init::glorot());
  saved.add("layer.bias", Shape{4}, init::uniform(-1, 1));
  save_parameters(path_, saved, {{"heed", "test"}});
  EXPECT_EQ(SafetensorsFile(path_).metadata().at("heed"), "test");
  const ParametersFile file(path_);
  Parameters loaded;
  loaded.give(file);
  for (const Parameters::Entry& entry : saved.entries()) {
    const Var var = loaded.add(entry.name, entry.var.shape(), fail_if_called);
    const auto expected = entry.var.value().values(), got = std::as_const(var).value().values();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin(), got.end())) << entry.name;
  }
  EXPECT_NO_THROW(file.require_no_others(loaded));
}

TEST_F(ParametersFileTest, APrefixPicksTheParametersOfACheckpoint) {
  save_checkpoint(path_, {{"parameters", {{{"x", Tensor(Shape{2}, Real{3})}, {"y", Tensor(Shape{1}, Real{4})}}, {}}},
                          {"average", {{{"x", Tensor(Shape{2}, Real{5})}}, {}}}});
  const ParametersFile file(path_, "parameters/");
  Parameters loaded;
  loaded.give(file);
  EXPECT_EQ(loaded.add("x", Shape{2}, fail_if_called).value().at({1}), 3);
  EXPECT_EQ(test::message_of([&] { file.require_no_others(loaded); }),
            path_.string() + ": it has what is no parameter of the model: \"parameters/y\"");
}

// What was given is given up with the function: a model holds no file that it has copied from.
TEST_F(ParametersFileTest, AfterwardsValuesAreDrawnAgain) {
  Parameters parameters;
  parameters.give([](const std::string&, const Shape& shape) { return Tensor(shape, Real{3}); });
  EXPECT_EQ(parameters.add("given", Shape{1}, init::constant(1)).value().item(), 3);
  parameters.give({});
  EXPECT_EQ(parameters.add("drawn", Shape{1}, init::constant(1)).value().item(), 1);
}

// The values are those of the file that was opened, whatever becomes of its name.
TEST_F(ParametersFileTest, AFileThatIsReplacedOrDeletedStaysTheModels) {
  constexpr Index kMany = 1 << 18;  // many pages, none of them read before
  const auto save = [&](double value) {
    Parameters saved;
    saved.add("x", Shape{kMany}, init::constant(value));
    save_parameters(path_, saved);
  };
  const auto add_x = [&](Parameters& parameters) { return parameters.add("x", Shape{kMany}, fail_if_called); };
  const auto all_are = [](const Var& x, Real value) {
    const auto values = x.value().values();
    return std::count(values.begin(), values.end(), value) == kMany;
  };
  save(1);
  Parameters first;
  first.give(ParametersFile(path_));
  const Var one = add_x(first);
  save(2);
  Parameters second;
  second.give(ParametersFile(path_));
  const Var two = add_x(second);
  std::filesystem::remove(path_);
  EXPECT_TRUE(all_are(one, 1));
  EXPECT_TRUE(all_are(two, 2));
}

TEST_F(ParametersFileTest, WritingToAParameterLeavesTheFileAsItIs) {
  Parameters saved;
  saved.add("x", Shape{2}, init::constant(1));
  save_parameters(path_, saved);
  Parameters loaded;
  loaded.give(ParametersFile(path_));
  Var x = loaded.add("x", Shape{2}, fail_if_called);
  x.value().data()[0] = 7;
  EXPECT_EQ(SafetensorsFile(path_).tensor("x").at({0}), 1);
}

TEST_F(ParametersFileTest, WhatDoesNotFitIsNamed) {
  Parameters saved;
  saved.add("a", Shape{2}, init::constant(1));
  saved.add("b", Shape{2, 3}, init::constant(1));
  for (int i = 0; i < 12; ++i) saved.add(fmt::format("old{:02}", i), Shape{1}, init::constant(1));
  save_parameters(path_, saved);
  const ParametersFile file(path_);
  Parameters model;
  model.give(file);
  const auto adding = [&](const char* name, const Shape& shape) {
    return test::message_of([&] { model.add(name, shape, fail_if_called); });
  };
  const std::string path = path_.string();
  EXPECT_NO_THROW(model.add("a", Shape{2}, fail_if_called));
  EXPECT_EQ(adding("new", Shape{1}), path + ": the model has a parameter \"new\" that is missing in it");
  EXPECT_EQ(adding("b", Shape{3, 2}), path + ": its \"b\" is [2, 3], but the model's is [3, 2]");
  EXPECT_FALSE(model.contains("b"));
  EXPECT_EQ(test::message_of([&] { file.require_no_others(model); }),
            path +
                ": it has what is no parameter of the model: \"b\", \"old00\", \"old01\", \"old02\", \"old03\", "
                "\"old04\", \"old05\", \"old06\", \"old07\", \"old08\" and 3 more");
}

TEST_F(ParametersFileTest, ATypeThatIsNoRealNumberIsNamed) {
  const auto source = std::filesystem::path(HEED_SOURCE_DIR) / "tests/store/data/mixed.safetensors";
  Parameters model;
  model.give(ParametersFile(source));
  EXPECT_EQ(test::message_of([&] { model.add("bool", SafetensorsFile(source).info("bool").shape, fail_if_called); }),
            source.string() + ": tensor \"bool\" is BOOL; only F16, BF16, F32 and F64 can be read as real numbers");
}

}  // namespace
}  // namespace heed
