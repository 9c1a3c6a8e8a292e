#include "heed/serve/content_policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

std::string hexadecimal(std::string_view text) {
  std::string result;
  for (const std::uint8_t byte : sha256(text)) result += fmt::format("{:02x}", byte);
  return result;
}

// The examples of FIPS 180-4, and lengths around the end of a block.
TEST(ContentPolicy, Sha256) {
  EXPECT_EQ(hexadecimal(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexadecimal("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexadecimal("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hexadecimal(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ContentPolicy, LetsThePagesOwnScriptsRunAndNothingElse) {
  const std::string policy = content_policy("<html><script type=\"module\">abc</script><p><script></script>");
  EXPECT_NE(policy.find("default-src 'none'; script-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=' "
                        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';"),
            std::string::npos)
      << policy;
  EXPECT_EQ(policy.find("unsafe-inline"), policy.find("style-src 'unsafe-inline'") + 11);
  EXPECT_NE(content_policy("<p>").find("script-src 'none';"), std::string::npos);
  EXPECT_NE(content_policy("<script").find("script-src 'none';"), std::string::npos);
}

}  // namespace
}  // namespace heed
