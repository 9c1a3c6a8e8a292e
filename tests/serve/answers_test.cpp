#include "heed/serve/answers.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(PageAnswer, IsHtmlUnderAPolicy) {
  const HttpResponse page = page_answer("<!doctype html><script>abc</script>", "'sha256-ungWv48B='");
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_EQ(page.body, "<!doctype html><script>abc</script>");
  ASSERT_FALSE(page.headers.empty());
  EXPECT_EQ(page.headers.front().first, "Content-Security-Policy");
  EXPECT_TRUE(page.headers.front().second.starts_with("default-src 'none'; script-src 'sha256-ungWv48B=';"));
}

TEST(PageAnswer, SaysHowToAskWhereThereIsNoPage) {
  const HttpResponse words = page_answer("", "");
  EXPECT_EQ(words.type, "text/plain; charset=utf-8");
  EXPECT_NE(words.body.find("/openapi.json"), std::string::npos);
}

}  // namespace
}  // namespace heed
