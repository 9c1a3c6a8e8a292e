#include "heed/base/shared_library.h"

#include <gtest/gtest.h>

#include <string>

namespace heed {
namespace {

TEST(SharedLibrary, GivesTheFunctionsThatItHas) {
  const SharedLibrary library("libm.so.6");
  ASSERT_TRUE(library) << library.fault();
  double (*cube_root)(double) = nullptr;
  ASSERT_TRUE(library.find(cube_root, "cbrt"));
  EXPECT_DOUBLE_EQ(cube_root(27), 3);
  EXPECT_FALSE(library.find(cube_root, "no_such_function"));
  EXPECT_EQ(cube_root, nullptr);
}

TEST(SharedLibrary, OneThatIsMissingSaysSoAndHasNoFunctions) {
  const SharedLibrary library("libno-such-library.so.7");
  EXPECT_FALSE(library);
  EXPECT_NE(library.fault().find("libno-such-library.so.7"), std::string::npos) << library.fault();
  double (*cube_root)(double) = nullptr;
  EXPECT_FALSE(library.find(cube_root, "cbrt"));
}

}  // namespace
}  // namespace heed
