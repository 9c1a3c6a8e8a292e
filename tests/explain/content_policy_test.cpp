#include "heed/explain/content_policy.h"

#include <gtest/gtest.h>

namespace heed::test {
namespace {

bool contains(const std::string& policy, const char* part) { return policy.find(part) != std::string::npos; }

TEST(ContentPolicy, RunsThePagesOwnScriptsAndTalksToItsServerAlone) {
  const std::string policy = served_page_policy("'sha256-a=' 'sha256-b='");
  for (const char* part :
       {"default-src 'none'", "script-src 'sha256-a=' 'sha256-b=';", "connect-src 'self'", "frame-ancestors 'none'"})
    EXPECT_TRUE(contains(policy, part)) << part;
  EXPECT_EQ(policy.find("unsafe-inline"), policy.find("style-src 'unsafe-inline'") + 11);
  EXPECT_TRUE(contains(served_page_policy(""), "script-src 'none';"));
}

TEST(ContentPolicy, OfASavedPageTalksToNobody) {
  const std::string policy = saved_page_policy("'sha256-a='");
  for (const char* part : {"default-src 'none'", "script-src 'sha256-a=';", "connect-src 'none'"})
    EXPECT_TRUE(contains(policy, part)) << part;
  EXPECT_FALSE(contains(policy, "frame-ancestors"));            // browsers complain of it in a page
  EXPECT_EQ(policy.find_first_of("\"<>&"), std::string::npos);  // it stands in an attribute
}

}  // namespace
}  // namespace heed::test
