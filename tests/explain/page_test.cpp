#include "heed/explain/page.h"

#include <gtest/gtest.h>

namespace heed::test {
namespace {

TEST(Page, IsOneWholeFile) {
  const std::string_view page = page_html();
  if (page.empty()) GTEST_SKIP() << "this build has no page";
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.rfind("</html>"), std::string_view::npos);
  for (const char* elsewhere : {" src=\"", "rel=\"stylesheet\"", "@import"})
    EXPECT_EQ(page.find(elsewhere), std::string_view::npos) << elsewhere;
}

}  // namespace
}  // namespace heed::test
