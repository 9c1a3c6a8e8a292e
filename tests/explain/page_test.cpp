#include "heed/explain/page.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "heed/base/file.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

std::size_t occurrences(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The source that embeds a page of this text.
std::string embedded(const std::string& html) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "page.html").string(), source = (folder.path() / "page.cpp").string();
  write_file(page, html);
  const std::string script = std::string(HEED_SOURCE_DIR) + "/cmake/embed_page.cmake";
  const std::string command = "cmake -D 'PAGE=" + page + "' -D 'SOURCE=" + source + "' -P '" + script + "' 2>/dev/null";
  return std::system(command.c_str()) == 0 ? read_file(source) : "an error";
}

TEST(Page, IsOneWholeFile) {
  const std::string_view page = page_html();
  if (page.empty()) GTEST_SKIP() << "this build has no page";
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.rfind("</html>"), std::string_view::npos);
  for (const char* elsewhere : {" src=\"", "rel=\"stylesheet\"", "@import"})
    EXPECT_EQ(page.find(elsewhere), std::string_view::npos) << elsewhere;
  EXPECT_GE(occurrences("'sha256-", page_scripts()), 1U);
}

// "abc" and nothing are examples of FIPS 180-4.
TEST(Page, ItsScriptsAreHashedWhenItIsBuiltIn) {
  const std::string source = embedded("<html><script type=\"module\">abc</script><p><script></script>");
  EXPECT_NE(source.find("return \"'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=' "
                        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='\";"),
            std::string::npos)
      << source;
  // What CMake's language means something by.
  EXPECT_NE(
      embedded("<script>a;b[c]\\d${e}\"#é</script>").find("'sha256-kcm2+DEg50LEJNS+dQNqQvx5W03lhUH3i1xla6U3Z+o='"),
      std::string::npos);
  EXPECT_NE(embedded("<p>").find("return \"\";"), std::string::npos);
  EXPECT_EQ(embedded("<script>abc"), "an error");
}

}  // namespace
}  // namespace heed::test
