#include "heed/explain/glyphs.h"

#include <gtest/gtest.h>

#include "trace/small_trace.h"

namespace heed::test {
namespace {

TEST(MissingGlyphs, AreThoseThatNoFontHas) {
  EXPECT_EQ(missing_glyphs(pair_trace({"a small house", {}, {}}, {"\u200b\t", {}, {}})), "");
  // The last private use character, which no font of any system has, once; and what is no text is passed over.
  const std::string last = "\U0010FFFD";
  EXPECT_EQ(missing_glyphs(pair_trace({"a " + last + last, {}, {}}, {last + "\xff", {}, {}})), last);
  EXPECT_EQ(missing_glyphs(Trace()), "");
}

}  // namespace
}  // namespace heed::test
