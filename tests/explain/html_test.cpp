#include "heed/explain/html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/messages.h"

namespace heed::test {
namespace {

TEST(HtmlPage, HoldsTheTraceAtTheEndOfTheBody) {
  EXPECT_EQ(html_page("<html><body>a</body></html>\n", "{\"a\":1}"),
            "<html><body>a<script type=\"application/json\" id=\"trace\">{\"a\":1}</script>\n</body></html>\n");
  // The page's own script may speak of bodies.
  const std::string page = "<script>\"</body>\"</script><body></body>";
  EXPECT_TRUE(html_page(page, "{}").starts_with("<script>\"</body>\"</script><body><script type="));
}

TEST(HtmlPage, NoTextEndsTheScript) {
  const std::string text = "</script><script>alert(1)</script><!-- & \xE2\x80\xA8 ]]> \"quoted\" \\ end";
  const nlohmann::json trace = {{"text", text}, {"tokens", {"<b>", "&lt;"}}};
  const std::string html = html_page("<body></body>", trace.dump());
  const std::string opening = "<body><script type=\"application/json\" id=\"trace\">", closing = "</script>\n</body>";
  ASSERT_TRUE(html.starts_with(opening));
  ASSERT_TRUE(html.ends_with(closing));
  const std::string inside = html.substr(opening.size(), html.size() - opening.size() - closing.size());
  EXPECT_EQ(inside.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(inside), trace);
}

TEST(HtmlPage, NeedsAPage) {
  EXPECT_EQ(message_of([] { html_page("", "{}"); }), "[html] this build has no page to put a trace into");
  EXPECT_EQ(message_of([] { html_page("<p>", "{}"); }), "[html] the page has no </body>");
}

}  // namespace
}  // namespace heed::test
