#include "heed/explain/html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/explain/content_policy.h"
#include "support/messages.h"

namespace heed::test {
namespace {

TEST(HtmlPage, HoldsItsPolicyFirstAndTheTraceAtTheEndOfTheBody) {
  const std::string policy =
      "\n    <meta http-equiv=\"Content-Security-Policy\" content=\"" + saved_page_policy("'sha256-a='") + "\" />";
  EXPECT_EQ(html_page("<html><head><p></head><body>a</body></html>\n", "'sha256-a='", "{\"a\":1}"),
            "<html><head>" + policy + "<p></head><body>a<script type=\"application/json\" id=\"trace\">{\"a\":1}" +
                "</script>\n</body></html>\n");
  // The page's own script may speak of heads and bodies.
  const std::string page = "<head><script>\"<head></body>\"</script></head><body></body>";
  EXPECT_TRUE(html_page(page, "'sha256-a='", "{}")
                  .starts_with("<head>" + policy + "<script>\"<head></body>\"</script></head><body><script type="));
}

TEST(HtmlPage, NoTextEndsTheScript) {
  const std::string text = "</script><script>alert(1)</script><!-- & \xE2\x80\xA8 ]]> \"quoted\" \\ end";
  const nlohmann::json trace = {{"text", text}, {"tokens", {"<b>", "&lt;"}}};
  const std::string html = html_page("<head></head><body></body>", "", trace.dump());
  const std::string opening = "</head><body><script type=\"application/json\" id=\"trace\">",
                    closing = "</script>\n</body>";
  const std::size_t begin = html.find(opening) + opening.size();
  ASSERT_GE(begin, opening.size());
  ASSERT_TRUE(html.ends_with(closing));
  const std::string inside = html.substr(begin, html.size() - begin - closing.size());
  EXPECT_EQ(inside.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(inside), trace);
}

TEST(HtmlPage, NeedsAPage) {
  EXPECT_EQ(message_of([] { html_page("", "", "{}"); }), "[html] this build has no page to put a trace into");
  for (const char* page : {"<p>", "<head>", "</body>", "</body><head>"})
    EXPECT_EQ(message_of([&] { html_page(page, "", "{}"); }), "[html] the page has no <head> and </body>") << page;
}

}  // namespace
}  // namespace heed::test
