#include "heed/base/base64.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Base64, WritesAndReadsBytes) {
  const std::pair<std::string, std::string> pairs[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar\xff", "Zm9vYmFy/w=="}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(from_base64(base64(all)), all);
}

TEST(Base64, WhatIsNoneIsNotRead) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9", "Zm9-", "=Zm9", "Zm9v\n"})
    EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace heed
