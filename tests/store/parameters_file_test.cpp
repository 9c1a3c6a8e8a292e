#include "heed/store/parameters_file.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

// Runs in float and in double.

namespace heed {
namespace {

std::string error_of_loading(const std::filesystem::path& path, Parameters& parameters) {
  try {
    load_parameters(path, parameters);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class ParametersFile : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "model.safetensors";
};

TEST_F(ParametersFile, LoadsWhatWasSavedIntoTheSameMemory) {
  Parameters saved(1), loaded(2);
  for (Parameters* each : {&saved, &loaded}) {
    each->add("layer.weight", Shape{3, 4}, init::glorot());
    each->add("layer.bias", Shape{4}, init::uniform(-1, 1));
  }
  save_parameters(path_, saved, {{"heed", "test"}});
  EXPECT_EQ(SafetensorsFile(path_).metadata().at("heed"), "test");
  const Var shared = loaded.at("layer.weight");  // as a layer holds it
  load_parameters(path_, loaded);
  for (const Parameters::Entry& entry : saved.entries()) {
    const auto expected = entry.var.value().values(), got = std::as_const(loaded).at(entry.name).value().values();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin())) << entry.name;
  }
  EXPECT_EQ(shared.value().at({2, 3}), saved.at("layer.weight").value().at({2, 3}));
}

TEST_F(ParametersFile, ParametersLeftUnsetGetEveryValueFromTheFile) {
  const auto fail_if_called = [](Tensor&, RandomKey) { FAIL() << "values were drawn"; };
  Parameters saved, loaded(1, FirstValues::left_unset);
  saved.add("weight", Shape{3, 4}, init::glorot());
  saved.add("bias", Shape{4}, init::constant(2));
  loaded.add("weight", Shape{3, 4}, fail_if_called);
  loaded.add("bias", Shape{4}, fail_if_called);
  save_parameters(path_, saved);
  load_parameters(path_, loaded);
  for (const Parameters::Entry& entry : saved.entries()) {
    const auto expected = entry.var.value().values(), got = std::as_const(loaded).at(entry.name).value().values();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin(), got.end())) << entry.name;
  }
  loaded.add("another", Shape{1}, fail_if_called);
  EXPECT_NE(error_of_loading(path_, loaded).find("missing: \"another\""), std::string::npos);
}

TEST_F(ParametersFile, WhatDoesNotFitIsListedAndNothingChanges) {
  Parameters saved;
  saved.add("a", Shape{2}, init::constant(1));
  saved.add("b", Shape{2, 3}, init::constant(1));
  saved.add("old", Shape{1}, init::constant(1));
  save_parameters(path_, saved);
  Parameters model;
  model.add("a", Shape{2}, init::constant(5));
  model.add("b", Shape{3, 2}, init::constant(5));
  model.add("new", Shape{1}, init::constant(5));
  EXPECT_EQ(error_of_loading(path_, model),
            path_.string() +
                ": its tensors are not this model's parameters; missing: \"new\"; superfluous: \"old\"; "
                "of another shape: \"b\" is [2, 3] and should be [3, 2]");
  for (const Parameters::Entry& entry : model.entries()) EXPECT_EQ(entry.var.value().data()[0], 5);
}

TEST_F(ParametersFile, AtMostTenNamesAreListed) {
  save_parameters(path_, Parameters());
  Parameters model;
  for (int i = 0; i < 13; ++i) model.add(fmt::format("p{:02}", i), Shape{1}, init::zeros());
  EXPECT_EQ(error_of_loading(path_, model),
            path_.string() +
                ": its tensors are not this model's parameters; missing: \"p00\", \"p01\", \"p02\", "
                "\"p03\", \"p04\", \"p05\", \"p06\", \"p07\", \"p08\", \"p09\" and 3 more");
}

TEST_F(ParametersFile, ATypeThatIsNoRealNumberChangesNothing) {
  // "f64" fits, "i64" has a fitting shape but is no real number.
  const auto source = std::filesystem::path(HEED_SOURCE_DIR) / "tests/store/data/mixed.safetensors";
  const SafetensorsFile file(source);
  Parameters model;
  for (const std::string& name : file.names()) model.add(name, file.info(name).shape, init::constant(5));
  EXPECT_EQ(error_of_loading(source, model),
            source.string() + ": tensor \"bool\" is BOOL; only F16, BF16, F32 and F64 can be read as real numbers");
  for (const Parameters::Entry& entry : model.entries()) EXPECT_EQ(entry.var.value().data()[0], 5) << entry.name;
}

}  // namespace
}  // namespace heed
