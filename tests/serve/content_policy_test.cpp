#include "heed/serve/content_policy.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(ContentPolicy, LetsThePagesOwnScriptsRunAndNothingElse) {
  const std::string policy = content_policy("'sha256-a=' 'sha256-b='");
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'sha256-a=' 'sha256-b='; ")) << policy;
  EXPECT_EQ(policy.find("unsafe-inline"), policy.find("style-src 'unsafe-inline'") + 11);
  EXPECT_NE(content_policy("").find("script-src 'none';"), std::string::npos);
}

}  // namespace
}  // namespace heed
